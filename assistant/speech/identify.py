"""Detection of a short sentence's language among the configured ones.

It counts grammatical words and command words, which people say in their own language, and ignores
names. See docs/decisions/0009 for reasons and figures.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

# Words that identify a language in short commands: grammatical words, verbs, numbers and common
# answers, which people say in their own language even if the device has a foreign name ("enciende
# office light"). Room and device names are omitted on purpose. A word can be in several languages.


WORDS: dict[str, frozenset[str]] = {
    "en": frozenset(
        """
        the an a no and or but of in into on off out up down to from for with without at by about
        than as my your our their its his her this that these those here there it he she we they
        you i me us them s m re ve ll t is are was were be been am do does did done has have had
        can could will would shall should may might must what which who whose when where why how
        many much all both every everything everyone each another other one ones some any none
        nothing something not don isn aren doesn didn won please thanks thank yes yeah yep yup nope
        nah hello hi hey good morning evening afternoon night bye goodbye sorry sure right alright
        never mind turn turned switch switched set put make makes let get give tell say show open
        opened close closed shut lock locked unlock unlocked start stop stopped pause resume play
        skip next previous cancel undo add remove remind call dim brighten brighter darker warmer
        colder cooler louder quieter warm cold hot dark too very more less raise lower increase
        decrease want need know think time now today tomorrow tonight yesterday again still already
        only just minute minutes hour hours second seconds half quarter past degrees percent lights
        upstairs downstairs inside outside everywhere first third last two three four five six
        seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty seventy eighty
        ninety hundred if because before after until while activate deactivate enable disable
        change adjust check continue mute unmute press clean replay nevermind remaining whole
        around across lighting bring find made
        """.split()
    ),
    "es": frozenset(
        """
        el la los las un una unos unas y e o u de del al a en con sin por para desde hasta entre
        sobre pero que qué quién quiénes cuál cuáles cuándo cuánto cuánta cuántos cuántas cómo
        dónde mi mis tu tus su sus este esta esto estos estas ese esa eso esos esas aquel aquella
        aquí ahí allí lo le les me te se nos yo tú él ella nosotros ellos es son está están era fue
        ser estar hay he ha han hace hacer haz tengo tiene quiero puedes puede va vas voy van todo
        toda todos todas nada algo alguna alguno alguien otro otra ambos ambas más menos muy mucho
        mucha no ni tampoco también sí claro vale bueno gracias muchas favor hola adiós buenas
        buenos días tardes noches perdón déjalo déjala basta cállate silencio nunca ya ahora hoy
        mañana ayer después luego antes vez siempre solo sólo si enciende encienda encender
        encendida encendido prende prender apaga apague apagar apagada apagado apágala apágalo
        enciéndela enciéndelo pon ponga poner ponme ponlo ponla quita quítalo sube suba subir baja
        bajar súbelo bájalo abre abra abrir abierta abierto abiertas abiertos ábrela ábrelo cierra
        cerrar cerrada cerrado cerradas cerrados ciérrala ciérralo bloquea bloquear desbloquea
        desbloquear parar detén arranca inicia empieza pausa reanuda sigue continúa siguiente
        anterior cancela cancelar deshaz deshazlo añade añadir agrega borra recuérdame llama dime
        cuéntame cambia cambie cambiar activa active activar desactiva desactive desactivar
        reproduce aumenta aumente aumentar reduce reduzca ajusta ajuste ajustar configura
        configurar conecta conectar acorta alarga quite quitar cierre ponlos ponlas ponerlo importa
        frío calor oscuro alto bajo fuerte hora horas minuto minutos segundo segundos segunda
        tercero tercera media cuarto grados ciento tiempo arriba abajo dentro fuera luces uno dos
        tres cuatro cinco seis siete ocho nueve diez once doce quince veinte veintiuno veintiún
        treinta cuarenta cincuenta sesenta setenta ochenta noventa cien puesto dejado calefacción
        """.split()
    ),
    "pt": frozenset(
        """
        o a os as um uma uns umas e ou de do da dos das em no na nos nas ao aos à às com sem por
        para pelo pela até entre sobre mas que quê quem qual quais quando quanto quanta quantos
        quantas como onde meu minha meus minhas teu tua seu sua este esta isto esse essa isso
        aquele aqui aí ali lá eu tu ele ela nós eles elas você vocês me te se lhe é são está estão
        era foi ser estar há tem tenho têm faz fazer quero podes pode vai vou vão tudo toda todo
        todos todas nada algo alguma algum alguém outro outra ambos mais menos muito muita não nem
        também sim claro obrigado obrigada favor olá oi tchau adeus bom boa dia tarde noite noites
        desculpa deixa chega cala nunca já agora hoje amanhã ontem depois antes sempre só acende
        acenda acender acesa aceso apaga apague apagar liga ligue ligar ligada ligado desliga
        desligue desligar desligada desligado põe ponha pôr coloca coloque tira sobe suba subir
        desce baixa baixar abre abra abrir aberta aberto abertas fecha feche fechar fechada fechado
        fechadas tranca destranca pare parar começa inicia pausa continua próxima próximo anterior
        cancela desfaz adiciona acrescenta lembra diz conta toca muda mude mudar ativa ativar
        desativa desativar ajusta ajustar aumenta aumentar diminui reduz define definir retirar
        remove importa frio calor escuro alto baixo hora horas minuto minutos segundo segundos
        segunda terceira meia graus cento tempo cima dentro fora luzes dois duas três quatro cinco
        seis sete oito nove dez onze doze quinze vinte trinta quarenta cinquenta sessenta setenta
        oitenta noventa cem
        """.split()
    ),
    "de": frozenset(
        """
        der die das den dem des ein eine einen einem einer eines und oder aber von vom in im ins an
        am auf aus ab bei beim mit ohne für zu zum zur nach vor über unter durch bis seit mein
        meine meinen dein deine sein ihr ihre unser dieser diese dieses ich du er sie es wir mich
        mir dich dir uns ist sind war waren bin bist sei hat habe haben kann kannst können will
        willst soll muss wird werden was wer wem wen wo wann warum wie welche welcher welches viel
        viele alle alles beide beides jede jeder nichts etwas kein keine nicht auch nur noch schon
        mehr weniger sehr ja jawohl nein doch bitte danke schön gerne gut guten gute morgen tag
        abend nacht hallo tschüss entschuldigung klar genau egal vergiss nie hier da dort jetzt
        heute gestern gleich wieder immer wenn mach mache machen schalte schalt schalten stell
        stelle stellen setze dreh öffne öffnen offen schließ schließe schließen geschlossen
        verriegle verriegel entriegle abgeschlossen zugesperrt starte start stopp halt pausiere
        spiel spiele weiter nächste nächstes vorherige abbrechen brich lösche füge hinzu ändere
        ändern erhöhe verringere aktiviere deaktiviere reinige erinnere ruf sag sage zeig erzähl
        dimme dimm lauter leiser heller dunkler wärmer kälter kalt warm heiß hell dunkel spät uhr
        zeit stunde stunden minute minuten sekunde sekunden halb viertel grad prozent licht lichter
        oben unten drinnen draußen überall erste zweite dritte letzte eins zwei drei vier fünf
        sechs sieben acht neun zehn elf zwölf fünfzehn zwanzig dreißig vierzig fünfzig sechzig
        siebzig achtzig neunzig hundert einundzwanzig
        """.split()
    ),
    "fr": frozenset(
        """
        le la les l un une des du de d et ou mais à a au aux en dans sur sous avec sans pour par
        chez vers entre que qu qui quoi quel quelle quels quelles quand combien comment où pourquoi
        mon ma mes ton ta tes son sa ses notre nos votre vos leur ce c cet cette ces ça cela ici là
        je j tu il elle on nous vous ils elles me m te t se s y n ne pas est sont était être es ai
        as ont fait faire fais peux peut veux va vas vais vont tout toute tous toutes rien quelque
        autre deux plus moins très trop beaucoup aussi encore déjà seulement oui ouais non si merci
        bonjour bonsoir bonne nuit salut revoir pardon plaît accord jamais laisse tant pis assez
        tais stop maintenant aujourd hui demain hier après avant toujours allume allumer allumée
        allumé allumées éteins éteindre éteinte éteint éteintes mets mettre met règle baisse monte
        augmente diminue ouvre ouvrir ouverte ouvert ouvertes ferme fermer fermée fermé fermées
        verrouille déverrouille lance démarre arrête pause reprends joue suivant suivante précédent
        annule ajoute ajouter enlève régler passer passe mettez allumez éteignez coupe couper
        rappelle appelle dis raconte change active désactive froid chaud sombre fort heure heures
        minute minutes seconde secondes demie quart degrés cent temps haut bas dedans dehors
        partout lumière lumières premier première deuxième trois quatre cinq six sept huit neuf dix
        onze douze quinze vingt trente quarante cinquante soixante
        """.split()
    ),
    "vi": frozenset(
        """
        bật tắt mở đóng khóa khoá tăng giảm đặt chỉnh phát dừng thôi tiếp hủy huỷ thêm xóa xoá nhắc
        gọi nói kể cho hãy làm ơn xin chào cảm cám vâng dạ ừ có không phải đúng rồi được đi lên
        xuống vào ra và hay hoặc nhưng của ở trong ngoài trên dưới với từ đến tới khi nếu thì là
        đang đã sẽ chưa vẫn cũng chỉ rất quá hơn ít nhiều tất cả mọi hết một hai ba bốn năm sáu bảy
        tám chín mười trăm mươi lăm độ phần phút giờ giây nửa ai gì nào đâu sao mấy bao nhiêu thế
        bây hôm nay mai qua tối sáng trưa chiều đêm buổi tôi mình bạn em anh chị nó này đó kia đây
        đấy lạnh nóng đèn phòng cửa rèm nhiệt
        """.split()
    ),
}

# Punctuation and letters that are (almost) unique to one of these languages.
LETTERS: dict[str, str] = {
    "es": "ñ¿¡",
    "pt": "ãõ",
    "de": "ßä",
    "fr": "œëîûù",
    "vi": "ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉĩịọỏốồổỗộớờởỡợụủũứừửữựỳỵỷỹ",
}


_WORD = re.compile(r"[^\W\d_]+")
_FIRST = 2.0  # votes of the first word, which is usually the verb or question word, rarely a name
_SIGN = 2.0  # votes of a punctuation mark such as "¿"
# Votes that are not enough against the expected language, or if a configured language has no table:
# the name "Luz de la cocina" has as many.
_UNSURE = 2.0


def identify(text: str, languages: Sequence[str], expected: str | None = None) -> str | None:
    """Return the configured language of `text`, such as "es-MX", or None if it is unclear.

    If only one language is configured, the result is that language. With an `expected` language,
    another one is detected only with clear evidence: a lamp with a foreign name must not turn an
    English sentence into a Spanish one.
    """
    if len(languages) == 1:
        return languages[0]
    bases = {language.split("-")[0]: language for language in reversed(languages)}
    votes = _votes(text, [base for base in bases if base in WORDS])
    ranked = sorted(votes, key=votes.__getitem__, reverse=True)
    if not ranked:
        return None
    best, next_best = votes[ranked[0]], votes[ranked[1]] if len(ranked) > 1 else 0.0
    if best <= next_best or (len(ranked) < len(bases) and best <= _UNSURE):
        return None
    if expected is None:
        return bases[ranked[0]]
    own = expected.split("-")[0]
    if ranked[0] == own:
        return expected
    return bases[ranked[0]] if best > _UNSURE and not votes.get(own) else None


def _votes(text: str, bases: Sequence[str]) -> dict[str, float]:
    plain = unicodedata.normalize("NFC", text).lower()  # not casefold, which would lose the "ß"
    votes = dict.fromkeys(bases, 0.0)
    for place, word in enumerate(_WORD.findall(plain)):
        # A word that is in several languages splits its vote, and a word that is in all doesn't
        # count.
        found = _languages_of(word, bases)
        if len(found) == len(bases) > 1:
            continue
        for base in found:
            votes[base] += (1.0 if place else _FIRST) / len(found)
    for base in bases:
        if any(sign in plain for sign in LETTERS.get(base, "") if not sign.isalpha()):
            votes[base] += _SIGN
    return votes


def _languages_of(word: str, bases: Sequence[str]) -> list[str]:
    """Return the languages that contain the word, or otherwise one of its letters, or otherwise the
    word without its accents."""
    return (
        [base for base in bases if word in WORDS[base]]
        or [base for base in bases if any(letter in LETTERS.get(base, "") for letter in word)]
        or [base for base in bases if _bare(word) in _BARE[base]]
    )


def _bare(word: str) -> str:
    parts = unicodedata.normalize("NFD", word)
    return "".join(part for part in parts if not unicodedata.combining(part))


# Vietnamese is left out, because without its accents it looks like short words of many languages.
_BARE = {
    base: frozenset(map(_bare, words)) if base != "vi" else frozenset[str]()
    for base, words in WORDS.items()
}


def _cannot_tell(text: str, expected: str | None) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Languages:
    """The configured languages, with a function that detects a text's language.

    `identify` takes a text and the expected code or None, and returns one of `codes`, or None if
    the language is unclear. It runs on the event loop for every clause, so it must be fast.
    """

    codes: tuple[str, ...] = ("en",)  # the first is the default
    identify: Callable[[str, str | None], str | None] = _cannot_tell

    @property
    def first(self) -> str:
        return self.codes[0]

    def led_by(self, code: str) -> "Languages":
        """Return a copy with `code` as the default language if it is configured."""
        return replace(self, codes=led_by(code, self.codes))

    def configured(self, code: str | None) -> str | None:
        """Return the configured code for a language, so that "es" matches "es-MX", or None."""
        if not code:
            return None
        if code in self.codes:
            return code
        base = _base(code)
        return next((known for known in self.codes if _base(known) == base), None)


def led_by(code: str, codes: Sequence[str]) -> tuple[str, ...]:
    """Return the codes with `code` moved to the front, or unchanged if it isn't among them."""
    return tuple(sorted(codes, key=lambda each: each != code))


def languages_of(codes: Sequence[str]) -> Languages:
    """Return the configured languages with detection by `identify`."""
    return Languages(tuple(codes), lambda text, expected: identify(text, codes, expected))


def _base(code: str) -> str:
    return code.replace("_", "-").split("-")[0].lower()


class TurnLanguage:
    """The language of one turn.

    It begins with `given` or the default, and becomes the language of the user's sentence. If
    neither is known, the first clear clause of the answer decides.
    """

    def __init__(self, languages: Languages, given: str | None = None) -> None:
        self.code = given or languages.first
        self._languages = languages
        self._known = given is not None

    def heard(self, text: str, code: str | None) -> None:
        """Update the language from the user's sentence, and from its `code` if the brain reported
        one."""
        self._settle(self._languages.configured(code) or self._languages.identify(text, None))

    def of_clause(self, text: str) -> str | None:
        """Return the language of a clause of the answer, or None if it is unclear.

        If the user's sentence left the turn's language open, the first clear clause settles it.
        """
        told = self._languages.identify(text, self.code if self._known else None)
        if not self._known:
            self._settle(told)
        return told

    def now(self, clause: str) -> str:
        """Return the language in which to speak a clause."""
        return self.of_clause(clause) or self.code

    def _settle(self, told: str | None) -> None:
        if told is not None:
            self.code, self._known = told, True
