"""Frames around an answer in other languages, with small numbers in words. Slots as in `frames`."""

from __future__ import annotations

FRAMES = {
    "de": """Die Antwort lautet {x}.
Es ist {x}.
Das ist {x}.
Meiner Meinung nach ist es {x}.
Die richtige Antwort ist {x}.
Ich glaube, es ist {x}.
Antwort: {x}
Ich würde {x} sagen.
Gesucht ist {x}.
Nicht {a}, sondern {b}.
Zuerst dachte ich an {a}, aber richtig ist {b}.
Ich schwanke zwischen {a} und {b}. Ich nehme {b}.
{a}? Nein, {b}.""",
    "fr": """La réponse est {x}.
C'est {x}.
Il s'agit de {x}.
Je pense que c'est {x}.
La bonne réponse est {x}.
Réponse : {x}
Sans doute {x}.
Je dirais {x}.
À mon avis, {x}.
Ce n'est pas {a}, c'est {b}.
J'ai d'abord pensé à {a}, mais la réponse est {b}.
J'hésite entre {a} et {b}. Je choisis {b}.
{a} ? Non, {b}.""",
    "es": """La respuesta es {x}.
Es {x}.
Se trata de {x}.
Creo que es {x}.
La respuesta correcta es {x}.
Respuesta: {x}
Yo diría que {x}.
Seguramente {x}.
Sin duda, {x}.
No es {a}, sino {b}.
Primero pensé en {a}, pero la respuesta es {b}.
Dudo entre {a} y {b}. Me quedo con {b}.
¿{a}? No, {b}.""",
    "it": """La risposta è {x}.
È {x}.
Si tratta di {x}.
Penso che sia {x}.
La risposta giusta è {x}.
Risposta: {x}
Direi {x}.
Probabilmente {x}.
Secondo me è {x}.
Non è {a}, ma {b}.
All'inizio pensavo a {a}, ma la risposta è {b}.
Sono indeciso tra {a} e {b}. Scelgo {b}.
{a}? No, {b}.""",
    "pt": """A resposta é {x}.
É {x}.
Trata-se de {x}.
Acho que é {x}.
A resposta correta é {x}.
Resposta: {x}
Eu diria {x}.
Provavelmente {x}.
Não é {a}, mas sim {b}.
Primeiro pensei em {a}, mas a resposta é {b}.
Estou em dúvida entre {a} e {b}. Fico com {b}.
{a}? Não, {b}.""",
    "nl": """Het antwoord is {x}.
Het is {x}.
Dat is {x}.
Ik denk dat het {x} is.
Het juiste antwoord is {x}.
Antwoord: {x}
Volgens mij {x}.
Waarschijnlijk {x}.
Niet {a}, maar {b}.
Eerst dacht ik aan {a}, maar het is {b}.
Ik twijfel tussen {a} en {b}. Ik kies {b}.
{a}? Nee, {b}.""",
    "pl": """Odpowiedź to {x}.
To {x}.
Myślę, że to {x}.
Prawidłowa odpowiedź: {x}
Prawdopodobnie {x}.
Nie {a}, tylko {b}.
Najpierw myślałem, że {a}, ale to {b}.
Waham się między {a} a {b}. Wybieram {b}.""",
    "sv": """Svaret är {x}.
Det är {x}.
Jag tror att det är {x}.
Rätt svar: {x}
Förmodligen {x}.
Inte {a} utan {b}.
Först tänkte jag på {a}, men svaret är {b}.
Jag tvekar mellan {a} och {b}. Jag väljer {b}.""",
    "tr": """Cevap: {x}.
Doğru cevap {x}.
Bence {x}.
Sanırım {x}.
{a} değil, {b}.
Önce {a} diye düşündüm ama cevap {b}.
{a} ile {b} arasında kaldım. {b} diyorum.""",
    "ru": """Ответ: {x}.
Это {x}.
Правильный ответ: {x}.
Я думаю, что это {x}.
Скорее всего, {x}.
Не {a}, а {b}.
Сначала я подумал о {a}, но правильный ответ: {b}.
Я колеблюсь между {a} и {b}. Выбираю {b}.""",
    "zh": """答案是{x}。
是{x}。
正确答案:{x}
我认为是{x}。
应该是{x}。
不是{a},而是{b}。
我起初想到{a},但答案是{b}。
我在{a}和{b}之间犹豫,最后选择{b}。""",
    "ja": """答えは{x}です。
{x}です。
正解は{x}です。
{x}だと思います。
おそらく{x}でしょう。
{a}ではなく、{b}です。
最初は{a}だと思いましたが、答えは{b}です。
{a}か{b}で迷いますが、{b}にします。""",
    "ko": """정답은 {x}입니다.
답: {x}
제 생각에는 {x}입니다.
{a}이(가) 아니라 {b}입니다.
처음에는 {a}(이)라고 생각했지만 답은 {b}입니다.""",
    "ar": """الجواب هو {x}.
الإجابة الصحيحة: {x}
أعتقد أنه {x}.
ليس {a} بل {b}.
ظننت أولا أنه {a}، لكن الجواب هو {b}.""",
    "hi": """उत्तर है {x}।
सही उत्तर: {x}
मुझे लगता है कि यह {x} है।
{a} नहीं, बल्कि {b}।
पहले मुझे {a} लगा, लेकिन उत्तर {b} है।""",
}

REFUSALS = """Ich weiß es nicht.
Das kann ich leider nicht beantworten.
Je ne sais pas.
Désolé, je ne peux pas répondre.
No lo sé.
Lo siento, no puedo responder.
Non lo so.
Mi dispiace, non posso rispondere.
Não sei.
Ik weet het niet.
Nie wiem.
Jag vet inte.
Bilmiyorum.
Я не знаю.
我不知道。
抱歉,我无法回答。
わかりません。
모르겠습니다.
لا أعرف.
मुझे नहीं पता।""".split("\n")

COUNTED = {
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "it": "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici",
    "pt": "zero um dois três quatro cinco seis sete oito nove dez onze doze",
    "nl": "nul één twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "ru": "ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать",
    "sv": "noll ett två tre fyra fem sex sju åtta nio tio elva tolv",
    "zh": "零 一 二 三 四 五 六 七 八 九 十 十一 十二",
    "ja": "ゼロ 一 二 三 四 五 六 七 八 九 十 十一 十二",
}
