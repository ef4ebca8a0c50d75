"""What rows of lists, dates and names are made up from: kinds with their members, events, names that lie close."""

from __future__ import annotations

# kind | a question of its own | members; "steps" keep their order.
COLLECTIONS = """
colours | Which colours does the flag of the club have? | crimson, teal, ochre, violet, silver, maroon, ivory, olive,\
 turquoise, beige, magenta, black
instruments | Which instruments are heard in the second movement? | oboe, cello, harp, bassoon, timpani, piccolo,\
 trombone, viola, lute, accordion, marimba, clarinet
moons | Which moons did the probe photograph? | Europa, Callisto, Titan, Enceladus, Triton, Miranda, Phobos, Deimos,\
 Rhea, Dione, Oberon, Io
spices | Which spices go into the sauce? | cumin, coriander, saffron, nutmeg, paprika, cardamom, cloves, turmeric,\
 fennel seed, star anise, cinnamon, sumac
tools | Which tools are needed for the repair? | hammer, chisel, pliers, spirit level, hacksaw, wrench, drill, rasp,\
 screwdriver, clamp, plane, crowbar
chess pieces | Which pieces were left on the board? | king, rook, bishop, knight, pawn, queen
rivers | Which rivers does the railway cross? | Danube, Loire, Ebro, Tagus, Vistula, Oder, Mekong, Niger, Orinoco,\
 Yukon, Volga, Dnieper, Po
programming languages | In which languages was the tool written? | Python, Haskell, Fortran, Rust, Kotlin, Ruby, Lua,\
 Erlang, Pascal, Julia, Perl, COBOL
people | Who was on the committee? | Amina, Bjorn, Carlos, Dmitri, Esther, Farid, Greta, Hiro, Ingrid, Jamal, Keiko,\
 Lorenzo, Mireille, Nadia, Oskar, Priya
numbers | Which numbers were drawn? | 3, 7, 12, 15, 18, 21, 24, 28, 31, 33, 36, 40, 42, 45, 49
numbers | Which numbers belong to the set? | -6, -3, 0, 2, 5, 8, 11, 14, 17, 20, 23, 26
letters | Which letters are silent in the word? | b, c, e, g, h, k, l, n, p, r, t, w
letters | Which letters are on the tiles? | A, B, C, D, E, F, G, H, I, K, L, M, N, O, P, R, S, T, U, W, Y
notes | Which notes make up the chord? | A, B, C, D, E, F, G
blood groups | Which blood groups are wanted? | A, B, AB, O
months | In which months is the garden open? | January, February, March, April, May, June, July, August, September,\
 October, November, December
chemical elements | Which elements does the alloy contain? | iron, nickel, zinc, tin, chromium, copper, manganese,\
 vanadium, cobalt, tungsten, silicon, lead
verbs | Which verbs occur in the sentence? | run, whisper, carry, forget, climb, borrow, sing, measure, hide, repair
phrases | Which phrases did the speaker repeat? | at long last, by and by, on the whole, out of the blue,\
 in broad daylight, once in a while, for good measure, under the weather
vegetables | Which vegetables are in the soup? | leek, carrot, celery, turnip, spinach, fennel, pumpkin, kale,\
 beetroot, parsnip, artichoke, cauliflower
fruits | Which fruits were in the basket? | apricot, plum, quince, mango, papaya, lychee, fig, grapefruit, pear,\
 cherry, banana, kiwi
trees | Which trees grow along the avenue? | oak, birch, larch, alder, willow, maple, poplar, cedar, yew, linden,\
 hazel, sycamore
birds | Which birds were seen at the lake? | heron, kingfisher, coot, osprey, mallard, wren, jay, lapwing, swift,\
 kestrel
fish | Which fish live in this stream? | trout, pike, perch, eel, carp, barbel, grayling, bream, salmon, roach
insects | Which insects were caught in the trap? | beetle, wasp, moth, earwig, mosquito, cricket, ladybird, ant,\
 dragonfly, aphid
farm animals | Which animals does the farm keep? | goats, sheep, ducks, geese, pigs, donkeys, turkeys, alpacas, cows,\
 rabbits
countries | Which countries signed the agreement? | Chile, Norway, Ghana, Vietnam, Peru, Latvia, Jordan, Kenya,\
 Portugal, Nepal, Uruguay, Croatia, Oman, Iceland
cities | Which cities did the tour visit? | Porto, Lviv, Cusco, Osaka, Bergen, Split, Dakar, Hanoi, Tampere, Izmir,\
 Antwerp, Rosario, Durban
islands | Which islands does the ferry call at? | Naxos, Elba, Gozo, Bornholm, Tenerife, Skye, Madeira, Zanzibar, Hvar,\
 Corsica
languages | Which languages does she speak? | Basque, Tamil, Finnish, Swahili, Arabic, Welsh, Korean, Portuguese,\
 Estonian, Turkish, Hindi, Czech
school subjects | Which subjects did he teach? | geography, chemistry, Latin, art, history, music, biology, economics,\
 philosophy, drama
sports | Which sports does the club offer? | fencing, rowing, judo, handball, archery, squash, cycling, badminton,\
 curling, water polo, climbing
dances | Which dances were performed? | tango, waltz, polka, rumba, foxtrot, flamenco, mazurka, samba, quickstep
fabrics | Which fabrics are used for the coat? | wool, linen, silk, velvet, denim, felt, corduroy, satin, tweed, cotton
gemstones | Which gems are set in the crown? | ruby, opal, topaz, garnet, emerald, jade, sapphire, amethyst, onyx
minerals | Which minerals make up the rock? | quartz, feldspar, mica, calcite, gypsum, olivine, talc, hornblende
bones | Which bones were broken in the fall? | femur, tibia, ulna, clavicle, scapula, patella, sternum, humerus
organs | Which organs were examined? | liver, spleen, kidney, pancreas, lung, stomach, bladder, heart, gall bladder
gases | Which gases were found in the sample? | argon, methane, helium, ammonia, ozone, neon, hydrogen, chlorine, xenon
polygons | Which shapes are on the card? | triangle, hexagon, rhombus, octagon, trapezium, kite, square, pentagon
vehicles | Which vehicles may use the lane? | buses, taxis, bicycles, trams, ambulances, motorcycles, lorries, scooters
pieces of furniture | What is in the room? | desk, wardrobe, bookcase, stool, sofa, chest of drawers, armchair
garments | What did he pack for the trip? | raincoat, scarf, jumper, sandals, gloves, woollen hat, swimsuit, belt, boots
kitchen utensils | Which utensils are in the drawer? | whisk, ladle, grater, spatula, sieve, corkscrew, peeler,\
 rolling pin
ingredients | What are the ingredients of the dough? | flour, butter, yeast, milk, salt, eggs, honey, water, olive oil,\
 sugar
cheeses | Which cheeses are on the board? | brie, feta, gouda, ricotta, stilton, halloumi, manchego, emmental, cheddar
drinks | Which drinks are served? | cocoa, lemonade, green tea, cider, buttermilk, espresso, tomato juice, ginger beer
muesli ingredients | What is in the muesli besides oats? | almonds, walnuts, sesame, hazelnuts, linseed, pecans,\
 cashews, pumpkin seeds
herbs | Which herbs grow on the balcony? | basil, thyme, dill, chives, oregano, sage, rosemary, tarragon, mint
flowers | Which flowers were in the bouquet? | peony, iris, tulip, freesia, lily, dahlia, carnation, anemone, rose
professions | What jobs did she have before? | baker, surveyor, nurse, translator, plumber, editor, pilot, librarian,\
 carpenter, archivist
departments | Which departments are moving to the new building? | accounting, legal, marketing, logistics, research,\
 human resources, purchasing, customer service
virtues | Which qualities does the coach look for? | patience, honesty, courage, modesty, diligence, humour, loyalty,\
 curiosity
symptoms | Which symptoms did the patient report? | fever, a dry cough, nausea, dizziness, a rash, headache,\
 joint pain, fatigue
causes | What were the causes of the delay? | a strike, heavy snow, a software fault, a missing permit, a burst pipe,\
 staff shortages, a customs check
goals | What does the plan aim at? | lower costs, cleaner air, shorter journeys, more jobs, safer streets,\
 better schools
vitamins | Which vitamins does the fruit supply? | vitamin A, vitamin B6, vitamin B12, vitamin C, vitamin D, vitamin E,\
 vitamin K
file formats | In which formats can the data be saved? | CSV, JSON, XML, PDF, PNG, YAML, HTML, TIFF, Parquet
units | Which units appear in the table? | newton, joule, pascal, watt, volt, ampere, kelvin, tesla, lumen, hertz
Greek letters | Which letters are used as symbols in the proof? | alpha, beta, gamma, delta, lambda, sigma, omega, theta
rooms | Which rooms face the garden? | kitchen, study, nursery, dining room, attic, library, bathroom, hall
materials | Which materials is the roof made of? | slate, timber, clay tiles, glass, steel, copper sheet, thatch,\
 concrete
newspapers | Which papers carried the story? | The Evening Herald, The Daily Ledger, The Harbour Post,\
 The Northern Echo, The Valley Courier, The Sunday Mirror
codes | Which codes are valid? | A17, B04, C92, D38, E55, F61, G20, H73
years | In which years did the team win the cup? | 1961, 1968, 1974, 1979, 1983, 1987, 1992, 1998, 2003, 2009, 2014
weekdays | On which days is the office open? | Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday
steps | List the steps in their order. | soak the beans, rinse them well, add fresh water, bring it to the boil,\
 simmer for an hour, season with salt
steps | What are the steps, in order? | switch off the power, open the cover, remove the old filter,\
 insert the new one, close the latch, run a test
"""

# {k}: the kind of things asked for, {n}: how many they are.
ASKED_FOR = """Which of the {k} does the passage name? | Name the {n} {k}. | What are the {n} {k}? | List all {k}.
Which {k} are mentioned? | Which {n} {k} does the author mention? | Name all the {k} in the text. | Give the {n} {k}.
Which {k} are on the list? | What {k} are listed in the table? | Which {k} did the witness name? | List the {n} {k}.
Identify the {n} {k} in the paragraph. | Which {k} does the report mention? | What {k} were chosen? | Enumerate the {k}.
Which {n} {k} were selected? | Which {k} remain? | Which {k} are marked on the card? | State the {n} {k}.
Can you tell me which {k} were named? | Which {k} appear in the story? | Which are the {n} {k}? | Recall the {n} {k}.
Tell me the {n} {k} that come up. | What were the {n} {k}? | Which {k} are there in all?
Write down the {n} {k} from the lesson. | Which {k} does the guide recommend? | Which {k} are missing in the draft?
Please list the {k} that were used. | Which {k} has the committee approved? | Which {k} did the survey find?
What {k} does the speaker refer to? | Which {n} {k} make up the set? | Of all {k}, which were in the final selection?
Which {k} are shown in the picture? | Which {k} does the quiz card give? | From the notes: which {k} were discussed?
Extract the {k} named in the passage. | Which {n} {k} come up in the interview? | Which {k} satisfy the condition?
Which {k} were crossed out? | Which {k} are in group B? | Which {n} {k} are in the first column?
Which {k} did the two lists have in common? | Which {k} were new this year? | Which {k} does the rule apply to?"""

# A list as an answer: {l} the members, {n} how many they are, {N} the same with a capital.
LISTED = """{l} | They are {l}. | These are {l}. | {N} in all: {l}. | There are {n} of them: {l}. | {N}: {l}.
The full list: {l}. | Namely {l}. | We have {l}, and that is all. | It names {l}, nothing else.
The answer consists of {l}. | I count {n}, namely {l}. | You will find {l}. | The ones you want are {l}.
Those would be {l}. | The text has {l}. | As I read it: {l}. | Complete answer: {l}
In no particular order: {l}. | It lists {n} things ({l}). | From what is given, {l} belong there.
{l}: that makes {n}. | {l} are the ones that count. | All in all {l}. | The items are as follows: {l}.
Mentioned are {l}. | Well, {l}, if you go through it line by line. | {l}. Nothing more is named."""

# One thing with "and" or "or" in its name: what it is, its first parts and its last parts.
JOINED = """
What is the band called? | Harper and; Milo and; Vera and | the Quiet Lanterns; the Paper Foxes; the Tin Riders
Which shop stands on the corner? | Baxter &; Lindqvist &; Moreau & | Sons; Daughters; Partners
What did she buy at the market? | a salt and; a pepper and; a sugar and | spice set; vinegar set; cream tray
What is the title of the novel? | Ashes and; Salt and; Thunder and | Orchids; Marble; Velvet
What is the name of the pub? | The Fox and; The Anchor and; The Crown and | Barrel; Thistle; Plough
What is the game called? | Stay or; Fold or; Bluff or | Run; Rise; Ride
Which ministry is responsible? | the Ministry of Trade and; the Ministry of Health and; the Ministry of Transport and\
 | Energy; Housing; Family Affairs
Which dish did he order? | fish and; pie and; eggs and | mash; peas; chips
What is the name of the law firm? | Okafor and; Delgado and; Petersen and | Whitlock; Nakamura; Brandt
"""

# what is asked with "either is right" | the answers
EITHER = """
Name one of the spices that may be used. | cumin; caraway; mace; juniper; allspice
What can be used in place of the butter? | margarine; lard; coconut oil; ghee
Name a gas that the sample contains. | neon; krypton; propane; ozone; ethane
Give one of the two towns where the train stops. | Lindau; Bregenz; Ulm; Kempten; Memmingen
Name one person who had a key. | Mrs Adeyemi; Mr Tran; Dr Kowalski; Ms Romero
Which material would do for the lid? | cork; bamboo; tin; glass; felt
Give one correct name for the tool. | spanner; mallet; awl; trowel; gimlet
Name one of the instruments he could play. | zither; bagpipes; trumpet; mandolin; flute
On which day could you call the office? | Monday; Tuesday; Thursday; Friday
Name one number that solves the riddle. | 14; 27; 35; 48; 63
"""

# s: what it happened to | what happened, in the past | the same with "did", where the past has no "was"
EVENTS = """footbridge|was opened; library|was founded; lighthouse|was built; contract|was signed
chapel|was consecrated
comet|was first seen; mine|was closed; statue|was unveiled; patent|was granted;\
 railway line|was completed
ferry|sank|sink; dam|broke|break; old mill|burned down|burn down; volcano|last erupted|last erupt
newspaper|first appeared|first appear; strike|began|begin; expedition|set out|set out; tower|collapsed|collapse
company|went bankrupt|go bankrupt; composer|was born; painter|died|die; general|retired|retire; treaty|was ratified
satellite|was launched; manuscript|was found; museum|moved to its new building|move to its new building
school|admitted its first pupils|admit its first pupils; law|came into force|come into force; team|was promoted
parcel|was sent; invoice|was issued; warranty|expired|expire; lease|began|begin; tree|was planted; bell|was cast
club|held its first meeting|hold its first meeting; film|was first shown; symphony|was first performed
theatre|reopened|reopen; canal|froze over|freeze over; village|was flooded; mayor|resigned|resign
hospital|took in its first patient|take in its first patient; bank|was robbed; tram line|was extended
fort|was abandoned; island|was sold; observatory|was struck by lightning; vaccine|was approved; reform|was announced"""

# what is asked | the statement that a span of years ends
SPANS = """In which years did the exhibition run?|The exhibition ran; When did the siege take place?|The siege lasted
During which years was she mayor?|She was mayor; From when to when did the mint strike coins?|The mint struck coins
In what period did the factory make bicycles?|The factory made bicycles; When was he treasurer?|He was treasurer
From which year to which year was the fort in use?|The fort was in use; When was the drought?|The drought lasted
Over which years was the journal published?|The journal was published; When did they live abroad?|They lived abroad
When did the line carry passengers?|The line carried passengers;\
 What were the years of the renovation?|The work went on"""

# what is asked | the statement that a time of the day ends
TIMES = """When does the ferry leave?|The ferry leaves; At what time does the last bus depart?|The last bus departs
What time does the museum close?|The museum closes; When does the night shift begin?|The night shift begins
At what time does the bakery open?|The bakery opens; When is the concert due to start?|The concert starts
When does the train from Graz arrive?|The train from Graz arrives; What time is high tide?|High tide is
At what time is the gate locked?|The gate is locked; When did the alarm go off?|The alarm went off
When is the post collected?|The post is collected; At what time did the witness hear the noise?|The noise was heard"""

# what is asked | a statement | names that lie close, each with other forms of it after "=".
NAMES = """
Which lake did they cross? | They crossed {x}. | Lake Victoria; Lake Tanganyika; Lake Malawi=Lake Nyasa; Lake Turkana
Which lake was surveyed? | {x} was surveyed. | Lake Huron; Lake Erie; Lake Ontario; Lake Michigan
Which vitamin was lacking? | {x} was lacking. | vitamin C=ascorbic acid; vitamin D; vitamin K; vitamin E;\
 vitamin A=retinol
Which vitamin was added to the flour? | {x} was added. | vitamin B1=thiamine; vitamin B2=riboflavin; vitamin B12;\
 vitamin B6
Who was queen then? | The queen was {x}. | Elizabeth I=Queen Elizabeth I=Elizabeth the First;\
 Elizabeth II=Queen Elizabeth II
Which king signed it? | {x} signed it. | Henry IV=King Henry IV; Henry V=Henry the Fifth; Henry VI; Henry VII;\
 Henry VIII
Which king of France was it? | It was {x}. | Louis XIII; Louis XIV=Louis the Fourteenth; Louis XV; Louis XVI;\
 Louis XVIII
Which pope was meant? | {x} was meant. | Pius IX=Pope Pius IX; Pius X; Pius XI=Pope Pius XI; Pius XII
Which tsar was it? | It was {x}. | Alexander I=Tsar Alexander I; Alexander II; Alexander III; Nicholas I; Nicholas II
Which country sent the team? | {x} sent the team. | South Korea=the Republic of Korea; North Korea=the DPRK
Which state is it in? | It lies in {x}. | North Carolina=NC; South Carolina=SC; North Dakota; South Dakota
Which state did they move to? | They moved to {x}. | Virginia; West Virginia
Which country is meant? | {x} is meant. | Guinea; Guinea-Bissau; Equatorial Guinea; Papua New Guinea; Guyana
Where was he posted? | He was posted to {x}. | Slovakia=the Slovak Republic; Slovenia=the Republic of Slovenia
Which country exported it? | {x} exported it. | Niger; Nigeria; Algeria; Liberia
Which country does the river cross? | The river crosses {x}. | Austria; Australia
Which country borders it? | {x} borders it. | Latvia; Lithuania; Libya; Lebanon; Liechtenstein
Where is the mine? | The mine is in {x}. | Zambia=the Republic of Zambia; Zimbabwe; Gambia=The Gambia; Gabon
Where does the company sit? | The company is based in {x}. | Uruguay; Paraguay
Which country won? | {x} won. | Iran; Iraq; Ireland; Iceland
Where was the tea grown? | It was grown in {x}. | Mauritius; Mauritania; Martinique; Malta; Mali; Malawi
Which island was it? | The island was {x}. | Dominica; the Dominican Republic; Grenada; Granada
Which salt was used? | {x} was used. | sodium chloride=NaCl; potassium chloride=KCl; calcium chloride=CaCl2
Which compound was found? | The compound was {x}. | sodium sulfate; sodium sulfite; sodium sulfide; sodium thiosulfate
Which gas escaped? | {x} escaped. | carbon dioxide=CO2; carbon monoxide=CO; nitrogen dioxide=NO2; sulfur dioxide=SO2
Which acid was it? | It was {x}. | nitric acid=HNO3; nitrous acid; hydrochloric acid=HCl; hypochlorous acid
Which acid was used? | {x} was used. | sulfuric acid=H2SO4; sulfurous acid; phosphoric acid=H3PO4; phosphorous acid
Which gas burns in the lamp? | {x} burns in it. | methane=CH4; ethane=C2H6; propane=C3H8; butane=C4H10; pentane
Which metal was it? | The metal was {x}. | magnesium=Mg; manganese=Mn; molybdenum=Mo
Which element is it? | It is {x}. | fluorine; chlorine=Cl; bromine=Br; astatine=At; argon=Ar
Which isotope is the fuel? | The fuel is {x}. | uranium-235=U-235; uranium-238=U-238; plutonium-239
Who is the author? | The author is {x}. | Charles Darwin; Charles Dickens; Charles Dodgson; Charlie Chaplin
Who wrote the letter? | {x} wrote it. | Thomas Edison; Thomas Jefferson; Thomas Hardy; Thomas Mann; Thomas Becket
Which president was in office? | {x} was in office. | John Adams; John Quincy Adams; John Tyler; John F. Kennedy=JFK
Which president signed it? | {x} signed it. | Andrew Johnson; Lyndon B. Johnson=LBJ; Andrew Jackson
Which sister wrote it? | {x} wrote it. | Charlotte Brontë; Emily Brontë; Anne Brontë
Which composer is it? | It is {x}. | Johann Sebastian Bach=J. S. Bach; Carl Philipp Emanuel Bach=C. P. E. Bach;\
 J. C. Bach
Which composer wrote the waltz? | {x} wrote it. | Johann Strauss I; Johann Strauss II; Richard Strauss; Oscar Straus
Who painted it? | It was painted by {x}. | Claude Monet; Édouard Manet; Henri Matisse
Which brother is in the picture? | {x} is in it. | Orville Wright; Wilbur Wright
Who made the discovery? | {x} made it. | Marie Curie; Pierre Curie; Irène Joliot-Curie
Who ruled the empire? | {x} ruled it. | Alexander Severus; Septimius Severus; Marcus Aurelius;\
 Marcus Antonius=Mark Antony
Who was the general? | The general was {x}. | Scipio Africanus; Scipio Aemilianus; Hannibal; Hasdrubal
Which university is it? | It is {x}. | the University of Oxford=Oxford University;\
 Oxford Brookes University=Oxford Brookes
Where did she study? | She studied at {x}. | Washington State University; the University of Washington;\
 Washington University
Which college was it? | It was {x}. | King's College London; King's College, Cambridge; Queens' College, Cambridge
Which airport did they use? | They used {x}. | London Gatwick; London Luton; London Stansted; London Heathrow
Which club won the match? | {x} won. | Manchester United=Man United; Manchester City=Man City
Which sea did the ship reach? | It reached {x}. | the Kara Sea; the Coral Sea; the Caspian Sea; the Celtic Sea
Which pole did they aim for? | They aimed for {x}. | the North Pole; the South Pole
Which river flooded? | {x} flooded. | the White Nile; the Blue Nile; the Yellow River=the Huang He; the Orange River
Which bay is it? | It is {x}. | Hudson Bay; James Bay; Baffin Bay; Botany Bay
Which island did they visit? | They visited {x}. | the North Island; the South Island; Stewart Island
Which desert did they study? | They studied {x}. | the Great Sandy Desert; the Great Victoria Desert; the Gibson Desert
Which bone is cracked? | {x} is cracked. | the tibia=the shinbone; the fibula=the calf bone; the femur=the thighbone
Which vessel is blocked? | {x} is blocked. | the pulmonary artery; the pulmonary vein; the carotid artery;\
 the jugular vein
Which part is enlarged? | {x} is enlarged. | the left ventricle; the right ventricle; the left atrium; the right atrium
Which gland is it? | It is {x}. | the thyroid gland; the parathyroid gland; the thymus; the adrenal gland
Which hormone was measured? | {x} was measured. | estrogen=oestrogen; progesterone; testosterone; prolactin
Which base is it? | It is {x}. | adenine; adenosine; guanine; cytosine; thymine
Which process is it? | It is {x}. | mitosis; meiosis; osmosis; miosis
Which bacterium was found? | {x} was found. | Staphylococcus aureus=S. aureus; Staphylococcus epidermidis=S. epidermidis
Which virus was it? | It was {x}. | hepatitis A virus=HAV; hepatitis B virus=HBV; hepatitis C virus=HCV
Which diabetes is it? | It is {x}. | type 1 diabetes=diabetes type 1; type 2 diabetes=diabetes type II;\
 gestational diabetes
Which charge does it carry? | It carries {x}. | a positive charge; a negative charge; no charge
Which quantity is it? | It is {x}. | angular momentum; linear momentum; angular velocity; angular acceleration
Which energy is it? | It is {x}. | kinetic energy; potential energy; thermal energy; chemical energy
Which current flows? | {x} flows. | direct current=DC; alternating current=AC
Which unit is used? | {x} is used. | kilowatt=kW; kilowatt hour=kWh; megawatt=MW; milliwatt=mW
Which language is it? | It is {x}. | Java; JavaScript=JS; Jython; Julia
Which protocol is used? | {x} is used. | IPv4; IPv6; IMAP; ICMP
Which mean is it? | It is {x}. | the geometric mean; the arithmetic mean; the harmonic mean
Which error is it? | It is {x}. | a type I error=a false positive; a type II error=a false negative
Which line is it on the map? | It is {x}. | a line of latitude=a parallel; a line of longitude=a meridian
Which document was signed? | {x} was signed. | the Treaty of Utrecht; the Treaty of Nystad; the Union of Utrecht
Which amendment applies? | {x} applies. | the Fifth Amendment; the Sixth Amendment; the Fifteenth Amendment
Which court ruled? | {x} ruled. | the Supreme Court; the Superior Court; the Court of Appeal=the appeal court
Which age is the find from? | It is from {x}. | the Early Bronze Age; the Late Bronze Age; the Early Iron Age
Which period was it? | It was {x}. | the Upper Cretaceous=the Late Cretaceous; the Lower Cretaceous=the Early Cretaceous
Which novel is it? | It is {x}. | Sons and Lovers; Fathers and Sons; Wives and Daughters
Which play is on? | {x} is on. | Henry VI, Part 1=the first part of Henry VI; Henry VI, Part 2; Henry VI, Part 3
Which symphony was played? | {x} was played. | Symphony No. 3=the third symphony; Symphony No. 5=the fifth;\
 Symphony No. 8
Which key is it in? | It is in {x}. | D major; D minor; D flat major; B flat major; B minor; E flat minor
Which spice is it? | It is {x}. | black pepper; white pepper; black cumin; Sichuan pepper
Which sugar is it? | It is {x}. | brown sugar; palm sugar; icing sugar=powdered sugar; caster sugar
Which raising agent is used? | {x} is used. | baking soda=sodium bicarbonate; baking powder; dry yeast=dried yeast
Which flour does it need? | It needs {x}. | rice flour; rye flour; wheat flour; spelt flour
Which street is it in? | It is in {x}. | Mill Road; Mill Lane; Hill Road; Miller Street=Miller St.
Which room is booked? | {x} is booked. | Room 214=room no. 214; Room 241; Room 124; Room 314
Which flight was delayed? | {x} was delayed. | flight BX 417=BX417; flight BX 471=BX471; flight XB 417=XB417
Which version has the fault? | {x} has it. | version 2.1=v2.1; version 1.2=v1.2; version 2.1.1=v2.1.1; version 2.2=v2.2
Which paragraph applies? | {x} applies. | section 12(a)=Section 12 (a); section 12(b)=Section 12 (b); section 21(a)
"""
