"""Words that rows are made with: first names, units, places, opposites, words of one meaning."""

from __future__ import annotations

FIRST_NAMES = frozenset(
    """
Aaron Abraham Adam Alan Albert Alex Alexander Alfred Alice Allen Amanda Amy Andrew Angela Ann Anna Anne Anthony
Arthur Ashley Barbara Ben Benjamin Bernard Betty Bill Billy Bob Bobby Brad Brandon Brian Bruce Bryan Carl Carol
Caroline Catherine Charles Charlie Charlotte Chris Christian Christina Christopher Claire Clark Claude Craig Daniel
Danny Dave David Dean Dennis Diana Diane Don Donald Dorothy Douglas Drew Dylan Edgar Edward Edwin Elizabeth Ella
Ellen Elvis Emily Emma Eric Ernest Eva Evan Evelyn Florence Francis Frank Franklin Fred Frederick Gary Gene George
Gerald Gordon Grace Graham Grant Greg Gregory Guy Hannah Harold Harry Harrison Heather Helen Henry Herbert Howard
Hugh Ian Isaac Jack Jackie Jacob Jake James Jamie Jan Jane Janet Jason Jay Jean Jeff Jennifer Jeremy Jerry Jesse
Jessica Jill Jim Jimmy Joan Joe John Johnny Jon Jonathan Joseph Josh Joshua Joyce Juan Judy Julia Julian Julie
Justin Karen Karl Kate Katherine Kathleen Keith Kelly Ken Kenneth Kevin Kim Kyle Larry Laura Lauren Lawrence Lee Leo
Leonard Lewis Linda Lisa Liz Logan Louis Louise Lucas Lucy Luke Lynn Marcus Margaret Maria Marie Mark Martha Martin
Marvin Mary Matt Matthew Max Megan Melissa Michael Michelle Mike Miles Nancy Natalie Nathan Neil Nicholas Nick
Nicole Norman Oliver Oscar Otto Owen Pamela Patricia Patrick Paul Paula Peter Phil Philip Phillip Rachel Ralph Randy
Ray Raymond Rebecca Richard Rick Rob Robert Robin Rod Roger Roland Ron Ronald Rose Roy Russell Ruth Ryan Sally Sam
Samantha Samuel Sandra Sara Sarah Scott Sean Seth Sharon Simon Sophia Sophie Stanley Stefan Stephanie Stephen Steve
Steven Stuart Sue Susan Ted Terry Theodore Theresa Thomas Tim Timothy Todd Tom Tommy Tony Tracy Tyler Vernon Victor
Victoria Vincent Virginia Walter Warren Wayne Wendy William Willie Zachary
""".split()
)

# First names that may be one person's.
NICKNAMES = {
    frozenset(pair.split())
    for pair in """
Bill William | Billy William | Willie Billy | Bob Robert | Bobby Robert | Rob Bob | Ted Edward | Ted Theodore
Jim James | Jack John | Betty Elizabeth | Liz Elizabeth | Tony Anthony | Harry Henry | Drew Andrew | Gene Eugene
Sandra Alexandra | Kate Catherine | Kathleen Catherine | Karl Charles | Ella Elizabeth
""".replace("\n", " | ").split(" | ")
}

# Of each dimension: unit → how many of the smallest it is.
UNITS: tuple[dict[str, int], ...] = (
    {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800},
    {"month": 1, "year": 12, "decade": 120, "century": 1_200},
    {"millimeter": 1, "centimeter": 10, "meter": 1_000, "kilometer": 1_000_000},
    {"inch": 1, "foot": 12, "yard": 36, "mile": 63_360},
    {"milligram": 1, "gram": 1_000, "kilogram": 1_000_000, "ton": 1_000_000_000},
    {"ounce": 1, "pound": 16},
    {"milliliter": 1, "liter": 1_000},
    {"pint": 1, "quart": 2, "gallon": 8},
    {"cent": 1, "dollar": 100},
    {"piece": 1, "dozen": 12},
)

PLACES = {
    "France": "Paris Lyon Marseille Toulouse Nice Bordeaux Lille Strasbourg Nantes",
    "England": "London Manchester Liverpool Birmingham Leeds Bristol Oxford Cambridge",
    "Scotland": "Edinburgh Glasgow Aberdeen Dundee",
    "Germany": "Berlin Munich Hamburg Cologne Frankfurt Stuttgart Dresden Leipzig Nuremberg",
    "Italy": "Rome Milan Naples Turin Venice Florence Bologna Genoa",
    "Spain": "Madrid Barcelona Valencia Seville Bilbao",
    "Austria": "Vienna Salzburg Graz Linz",
    "Switzerland": "Zurich Geneva Basel Bern Lausanne",
    "Russia": "Moscow Kazan Sochi Vladivostok",
    "Japan": "Tokyo Osaka Kyoto Nagoya Hiroshima",
    "China": "Beijing Shanghai Guangzhou Shenzhen Wuhan",
    "India": "Mumbai Delhi Kolkata Chennai Bangalore Hyderabad Pune",
    "Australia": "Sydney Melbourne Brisbane Perth Adelaide Canberra",
    "Canada": "Toronto Montreal Vancouver Ottawa Calgary Edmonton",
    "Brazil": "Brasília Salvador Recife Curitiba",
    "Poland": "Warsaw Krakow Gdansk Wroclaw Poznan",
    "Turkey": "Istanbul Ankara Izmir Bursa",
    "Egypt": "Cairo Alexandria Luxor Giza",
    "Texas": "Houston Dallas Austin Galveston",
    "California": "Sacramento Oakland Fresno Hollywood Pasadena",
    "Illinois": "Chicago Peoria Rockford",
    "Massachusetts": "Boston Salem Worcester",
    "Georgia": "Atlanta Savannah Augusta",
    "Washington": "Seattle Spokane Tacoma",
    "Florida": "Miami Orlando Tampa Jacksonville Tallahassee",
    "Pennsylvania": "Philadelphia Pittsburgh Harrisburg",
    "Ohio": "Cleveland Cincinnati Columbus Toledo",
    "Michigan": "Detroit Lansing Flint",
}

COUNTRY = {city: country for country, cities in PLACES.items() for city in cities.split()}

_OPPOSITES = """
increase decrease | increases decreases | increased decreased | more less | larger smaller | large small
big little | high low | higher lower | highest lowest | hot cold | hotter colder | warm cool | warmer cooler
fast slow | faster slower | north south | northern southern | east west | eastern western | left right
before after | first last | early late | earlier later | inside outside | above below | upper lower | top bottom
up down | long short | longer shorter | heavy light | heavier lighter | wet dry | day night | summer winter
spring autumn | male female | men women | father mother | son daughter | brother sister | king queen
husband wife | buy sell | win lose | won lost | positive negative | maximum minimum | most least | many few
strong weak | stronger weaker | young old | younger older | new old | old new | open closed | public private
internal external | gain loss | add subtract | rise fall | attack defense | absorb reflect | push pull
solid liquid | sunrise sunset | conductor insulator | predator prey | import export | majority minority
with without | always never | all none | same different | urban rural | rich poor | hard soft | thick thin
deep shallow | wide narrow | full empty | clean dirty | safe dangerous | true false | start end | birth death
"""
OPPOSITE = {
    key: value
    for pair in _OPPOSITES.strip().replace("\n", " | ").split(" | ")
    for key, value in (pair.split(), pair.split()[::-1])
}

# The second may stand for the first; not always the other way round.
_SYNONYMS = """
big large | large big | small little | fast quick | kids children | children kids | sick ill | film movie
movie film | purchase buy | obtain get | usually normally | almost nearly | automobile car | car automobile
doctor physician | rainfall rain | street road | many numerous | area region | build construct | choose select
create make | hazardous dangerous | decrease reduce | reduce lower | different distinct | eat consume
sufficient enough | enough sufficient | repair fix | food nourishment | forest woods | garbage trash
trash garbage | happen occur | occurs happens | happy glad | huge enormous | idea concept | illness disease
important significant | job occupation | jump leap | keep retain | lawyer attorney | money cash | require need
ocean sea | often frequently | frequently often | people persons | picture image | prevent stop | provide supply
song tune | rocks stones | stones rocks | teacher instructor | town city | use utilize | using by means of
weather climate conditions | wealthy rich | yearly annually | annual yearly | sunlight light from the sun
wintertime winter | nighttime night | bigger larger | larger bigger | smaller littler | smallest tiniest
biggest largest | quickly fast | rapidly quickly | slowly at a slow pace | scientists researchers
researchers scientists | students pupils | gives provides | gets receives | becomes turns into | begins starts
starts begins | ends finishes | helps aids | allows lets | shows displays | nearby close by | without with no
approximately about | within inside
"""
SYNONYM = dict(pair.split(" ", 1) for pair in _SYNONYMS.strip().replace("\n", " | ").split(" | "))
