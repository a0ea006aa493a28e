"""Questions about doors, locks and sensors that the library's templates do not have, by language.

Theirs know a door by the exact name of one thing of one domain. Here a door is meant by its own
name, whatever its contact and its lock are called (`{door:name}`); a kind may be asked about
without a name ("is the garage door open"); and the whole house ("is everything locked").
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assistant.tools.house.questions import EVERYTHING

INTENT = "HassGetState"
DEFINITE = "definite"  # the response of a question about "the door", "the windows"
ROOM = "room_humidity"  # the response of a question about the air of a room

_Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sentences:
    """Templates of one language."""

    door: _Texts  # {door:name} and a state, as {STATE}
    kind: _Texts  # {cover_classes:device_class} and {cover_states:state}
    garage: _Texts  # "the garage", without its door, and {cover_states:state}
    locks: _Texts  # "the doors" and {lock_states:state}
    all_closed: _Texts
    all_locked: _Texts
    any_open: _Texts
    which_open: _Texts
    any_unlocked: _Texts
    which_unlocked: _Texts
    smoke: _Texts
    gas: _Texts
    leak: _Texts
    motion: _Texts
    battery_any: _Texts
    battery_which: _Texts
    battery_all: _Texts
    humidity: _Texts
    humidity_here: _Texts

    def blocks(self) -> Iterator[dict[str, Any]]:
        """As hassil takes them."""
        for states in ("cover_states", "lock_states"):
            door = [text.replace("{STATE}", f"{{{states}:state}}") for text in self.door]
            yield {"sentences": door, "response": "one_yesno"}
        yield _block(self.kind, DEFINITE, domain="cover")
        yield _block(self.garage, DEFINITE, domain="cover", device_class="garage")
        yield _block(self.locks, DEFINITE, domain="lock")
        whole = {"device_class": EVERYTHING}
        yield _block(self.all_closed, "all", state="closed", **whole)
        yield _block(self.all_locked, "all", state="locked", **whole)
        yield _block(self.any_open, "any", state="open", **whole)
        yield _block(self.which_open, "which", state="open", **whole)
        yield _block(self.any_unlocked, "any", state="unlocked", **whole)
        yield _block(self.which_unlocked, "which", state="unlocked", **whole)
        sensor = {"domain": "binary_sensor", "state": "on"}
        motion = ["motion", "occupancy", "presence", "moving"]
        yield _block(self.smoke, "any", device_class="smoke", **sensor)
        yield _block(self.gas, "any", device_class=["gas", "carbon_monoxide"], **sensor)
        yield _block(self.leak, "any", device_class="moisture", **sensor)
        yield _block(self.motion, "any", device_class=motion, **sensor)
        battery = {"domain": "binary_sensor", "device_class": "battery"}
        yield _block(self.battery_any, "any", state="low", **battery)
        yield _block(self.battery_which, "which", state="low", **battery)
        yield _block(self.battery_all, "all", state="normal", **battery)
        yield _block(self.humidity, ROOM)
        here = _block(self.humidity_here, ROOM)
        yield here | {"requires_context": {"area": {"slot": True}}}


def _block(texts: _Texts, response: str, **slots: Any) -> dict[str, Any]:
    return {"sentences": list(texts), "response": response, "slots": slots}


_EN = _Sentences(
    door=("(<is>|(did i|did we|have i) (leave|left)) [<the>] {door:name} {STATE}",),
    kind=(
        "<is> [<the>|a] {cover_classes:device_class} {cover_states:state}",
        "<is> [<the>|a] {area} {cover_classes:device_class} {cover_states:state}",
        "<is> [<the>|a] {cover_classes:device_class} <in> [<the>] {area} {cover_states:state}",
    ),
    garage=("<is> [<the>] garage {cover_states:state}",),
    locks=(
        "<is> <lockable> {lock_states:state}",
        "<is> [<the>] {area} <lockable> {lock_states:state}",
    ),
    all_closed=(
        "is (everything|it all|<the> [whole] (house|home|place)) [all] (closed|shut) [up]",
        "are (all [of] <the>|<the>) doors and windows [all] (closed|shut)",
        "did i (close|shut) everything",
    ),
    all_locked=(
        "is (everything|it all|<the> [whole] (house|home|place)) [all] "
        "(locked|secure|secured|locked and closed|closed and locked) [(up|down)]",
        "are we [all] locked (up|down)",
        "did i lock (up|everything)",
    ),
    any_open=(
        "is (anything|something|any of it) [(still|left|standing)] open",
        "(did i leave|have i left|did we leave|is there) (anything|something) open",
    ),
    which_open=("(what|what's|what is|which ones are) [(still|left|standing)] open",),
    any_unlocked=(
        "is (anything|something) [(still|left)] unlocked",
        "(did i leave|have i left|is there) (anything|something) unlocked",
    ),
    which_unlocked=("(what|what's|what is) [(still|left)] unlocked",),
    smoke=("is there [any] smoke [anywhere] [<in> [<the>] {area}]", "is [any] smoke detected"),
    gas=("is there [any] (gas|carbon monoxide) [leak] [anywhere] [<in> [<the>] {area}]",),
    leak=(
        "is there [(a|any)] ([water] leak[s]|flood|flooding) [anywhere] [<in> [<the>] {area}]",
        "is (anything|something) (leaking|wet) [<in> [<the>] {area}]",
    ),
    motion=(
        "is there [any] (motion|movement) [anywhere] [<in> [<the>] {area}]",
        "is (anyone|anybody|someone|somebody|anything|something) moving [<in> [<the>] {area}]",
    ),
    battery_any=("(is|are) [there] any (battery|batteries) [that are] (low|empty|flat|dead)",),
    battery_which=("(which|what) (battery is|batteries are) (low|empty|flat|dead)",),
    battery_all=("are [all] [<the>] batteries [all] (ok|okay|fine|good|all right)",),
    humidity=(
        "<what_is> [the] [current] humidity <in> [<the>] {area}",
        "<what_is> [<the>] {area} [current] humidity",
        "how humid is [it <in>] [<the>] {area}",
    ),
    humidity_here=("<what_is> [the] [current] humidity [<here>]", "how humid is it [<here>]"),
)
_ES = _Sentences(
    door=(
        "(está|están) [el|la|los|las] {door:name} {STATE}",
        "(está|están) {STATE} [el|la|los|las] {door:name}",
    ),
    kind=(
        "está[n] [todas|todos] [el|la|los|las] {cover_classes:device_class} {cover_states:state}",
        "está[n] {cover_states:state} [todas|todos] [el|la|los|las] {cover_classes:device_class}",
        "(está|están) [el|la|los|las] {cover_classes:device_class} "
        "(del|de|en) [el|la|los|las] {area} {cover_states:state}",
        "(está|están) {cover_states:state} [el|la|los|las] {cover_classes:device_class} "
        "(del|de|en) [el|la|los|las] {area}",
    ),
    garage=(
        "(está|están) [el|la] (garaje|cochera) {cover_states:state}",
        "está {cover_states:state} [el|la] (garaje|cochera)",
    ),
    locks=(
        "(está|están) <lockable> {lock_states:state}",
        "(está|están) {lock_states:state} <lockable>",
    ),
    all_closed=(
        "está [ya] todo cerrado",
        "está (cerrada la casa|la casa cerrada)",
        "he cerrado todo",
    ),
    all_locked=(
        "está [ya] todo (cerrado con llave|bloqueado|asegurado)",
        "está (cerrada con llave la casa|la casa (cerrada con llave|bloqueada|asegurada))",
        "he cerrado todo con llave",
    ),
    any_open=(
        "(hay|queda|está) (algo|alguna cosa) [todavía|aún] abiert(o|a)",
        "(he dejado|dejé|me he dejado) algo abierto",
    ),
    which_open=("qué (está|queda|hay) [todavía|aún] abierto",),
    any_unlocked=("(hay|queda|está) algo (sin (cerrar con llave|bloquear)|desbloqueado)",),
    which_unlocked=("qué (está|queda) (sin (cerrar con llave|bloquear)|desbloqueado)",),
    smoke=("hay humo [(en|de) [el|la|los|las] {area}]",),
    gas=("hay [(fuga|escape) de] (gas|monóxido de carbono) [en [el|la|los|las] {area}]",),
    leak=("hay [(una|alguna)] (fuga|inundación) [de agua] [en [el|la|los|las] {area}]",),
    motion=(
        "hay [(algún|alguna)] movimiento [en [el|la|los|las] {area}]",
        "se mueve (alguien|algo) [en [el|la|los|las] {area}]",
    ),
    battery_any=("(hay|está) [(alguna|algunas)] (batería|baterías|pila|pilas) (baja|bajas)",),
    battery_which=("qué (batería|baterías|pila|pilas) (está|están) (baja|bajas)",),
    battery_all=("están [todas] [las] (baterías|pilas) bien",),
    humidity=(
        "(qué|cuánta) humedad hay (en|de) [el|la|los|las] {area}",
        "cuál es la humedad (de|del|en) [el|la|los|las] {area}",
    ),
    humidity_here=("(qué|cuánta) humedad hay [aquí]", "cuál es la humedad [aquí]"),
)
_DE = _Sentences(
    door=("(ist|sind|steht|stehen) [die|der|das] {door:name} {STATE}",),
    kind=(
        "(ist|sind|steht|stehen) (die|der|das) {cover_classes:device_class} {cover_states:state}",
        "(ist|sind|steht|stehen) (die|der|das) {cover_classes:device_class} "
        "(in der|in dem|im|in) {area} {cover_states:state}",
    ),
    garage=("(ist|steht) die Garage {cover_states:state}",),
    locks=("(ist|sind) (die|der|das) (Tür|Türen|Schloss|Schlösser|Fenster) {lock_states:state}",),
    all_closed=(
        "ist [schon] [überall] alles (zu|geschlossen|dicht)",
        "ist das [ganze] Haus (zu|geschlossen)",
        "habe ich alles (zugemacht|geschlossen)",
    ),
    all_locked=(
        "ist [schon] [überall] alles "
        "(abgeschlossen|abgesperrt|verriegelt|zugesperrt|verschlossen|gesichert)",
        "ist das [ganze] Haus "
        "(abgeschlossen|abgesperrt|verriegelt|zugesperrt|verschlossen|gesichert)",
        "habe ich alles (abgeschlossen|abgesperrt|zugesperrt)",
    ),
    any_open=(
        "(ist|steht) [noch] [irgendwo] (irgendetwas|irgendwas|etwas|was) [noch] (offen|auf)",
        "habe ich [noch] (irgendetwas|irgendwas|etwas|was) offen gelassen",
    ),
    which_open=("was (ist|steht) [noch] [alles] (offen|auf)",),
    any_unlocked=(
        "ist [noch] (irgendetwas|irgendwas|etwas|was) "
        "(nicht (abgeschlossen|abgesperrt|verriegelt)|entriegelt|unverschlossen)",
    ),
    which_unlocked=(
        "was ist [noch] (nicht (abgeschlossen|abgesperrt|verriegelt)|entriegelt|unverschlossen)",
    ),
    smoke=("(gibt es|ist da) [irgendwo] Rauch [(in der|in dem|im|in) {area}]", "brennt es"),
    gas=(
        "(gibt es|ist da) [irgendwo] (Gas|Kohlenmonoxid|ein Gasleck) "
        "[(in der|in dem|im|in) {area}]",
        "tritt [irgendwo] Gas aus",
    ),
    leak=(
        "(gibt es|ist da) [irgendwo] [ein] (Wasserleck|Leck|Wasser) [(in der|in dem|im|in) {area}]",
        "läuft [irgendwo] Wasser aus",
    ),
    motion=(
        "(gibt es|ist da) [irgendwo] [eine] Bewegung [(in der|in dem|im|in) {area}]",
        "bewegt sich (jemand|etwas|was) [(in der|in dem|im|in) {area}]",
    ),
    battery_any=(
        "(ist|sind) [irgendeine|irgendwelche|eine] (Batterie|Batterien|Akku|Akkus) (leer|schwach)",
    ),
    battery_which=("welche (Batterie ist|Batterien sind|Akkus sind) (leer|schwach)",),
    battery_all=("sind [alle|die] (Batterien|Akkus) (in Ordnung|gut|voll|okay)",),
    humidity=(
        "wie (hoch ist die Luftfeuchtigkeit|feucht ist es) (in der|in dem|im|in) {area}",
        "welche Luftfeuchtigkeit (hat es|haben wir) (in der|in dem|im|in) {area}",
    ),
    humidity_here=("wie (hoch ist die Luftfeuchtigkeit|feucht ist es) [hier]",),
)
_FR = _Sentences(
    door=(
        "[<le>]{door:name} <estil> {STATE}",
        "est-ce que [<le>]{door:name} (est|sont) {STATE}",
    ),
    kind=(
        "[<le>]{cover_classes:device_class} <estil> {cover_states:state}",
        "est-ce que [<le>]{cover_classes:device_class} (est|sont) {cover_states:state}",
        "est-ce que [<le>]{cover_classes:device_class} <dans> [<le>]{area} "
        "(est|sont) {cover_states:state}",
    ),
    garage=(
        "[<le>]garage <estil> {cover_states:state}",
        "est-ce que [<le>]garage est {cover_states:state}",
    ),
    locks=(
        "[<le>](porte|portes|serrure|serrures) <estil> {lock_states:state}",
        "est-ce que [<le>](porte|portes|serrure|serrures) (est|sont) {lock_states:state}",
    ),
    all_closed=(
        "(est-ce que tout est|tout est-il|tout est) [bien] (fermé|clos)",
        "(est-ce que la maison est|la maison est-elle|la maison est) [bien] (fermée|close)",
    ),
    all_locked=(
        "(est-ce que tout est|tout est-il|tout est) [bien] (verrouillé|fermé à clé|fermé à clef)",
        "(est-ce que la maison est|la maison est-elle|la maison est) [bien] "
        "(verrouillée|fermée à clé|fermée à clef)",
    ),
    any_open=(
        "(est-ce que quelque chose est|quelque chose est-il) [encore|resté] ouvert",
        "(est-ce qu'il y a|y a-t-il) quelque chose d'ouvert",
        "ai-je laissé quelque chose ouvert",
    ),
    which_open=("qu'est-ce qui est [encore|resté] ouvert",),
    any_unlocked=("(est-ce que quelque chose est|quelque chose est-il) [encore] déverrouillé",),
    which_unlocked=("qu'est-ce qui est [encore] déverrouillé",),
    smoke=("(y a-t-il|est-ce qu'il y a|il y a) de la fumée [<dans> [<le>]{area}]",),
    gas=(
        "(y a-t-il|est-ce qu'il y a|il y a) "
        "(du gaz|une fuite de gaz|du monoxyde de carbone) [<dans> [<le>]{area}]",
    ),
    leak=(
        "(y a-t-il|est-ce qu'il y a|il y a) une (fuite|inondation) [d'eau] [<dans> [<le>]{area}]",
    ),
    motion=("(y a-t-il|est-ce qu'il y a|il y a) du mouvement [<dans> [<le>]{area}]",),
    battery_any=(
        "(y a-t-il|est-ce qu'il y a|il y a) (une pile|une batterie|des piles|des batteries) "
        "(faible|faibles)",
    ),
    battery_which=("quelles (piles|batteries) sont faibles",),
    battery_all=("est-ce que [toutes] les (piles|batteries) sont bonnes",),
    humidity=("(quelle est|quel est) (l'humidité|le taux d'humidité) <dans> [<le>]{area}",),
    humidity_here=("(quelle est|quel est) (l'humidité|le taux d'humidité) [ici]",),
)
_PT = _Sentences(
    door=(
        "[(o|a|os|as)] {door:name} (está|estão) {STATE}",
        "(está|estão) [(o|a|os|as)] {door:name} {STATE}",
    ),
    kind=(
        "[(o|a|os|as)] {cover_classes:device_class} (está|estão) {cover_states:state}",
        "(está|estão) [(o|a|os|as)] {cover_classes:device_class} {cover_states:state}",
        "[(o|a|os|as)] {cover_classes:device_class} (do|da|no|na|de) {area} "
        "(está|estão) {cover_states:state}",
    ),
    garage=(
        "[a] garagem está {cover_states:state}",
        "está [a] garagem {cover_states:state}",
    ),
    locks=("[(o|a|os|as)] (porta|portas|fechadura|fechaduras) (está|estão) {lock_states:state}",),
    all_closed=(
        "(está tudo|tudo está) [bem] fechado",
        "(a casa está|está a casa) [toda] fechada",
    ),
    all_locked=(
        "(está tudo|tudo está) [bem] trancado",
        "(a casa está|está a casa) [toda] trancada",
    ),
    any_open=(
        "(há|tem|ficou|está) (algo|alguma coisa) [ainda] abert(o|a)",
        "deixei (algo aberto|alguma coisa aberta)",
    ),
    which_open=("o que [é que] (está|ficou) [ainda] aberto",),
    any_unlocked=("(há|tem|ficou|está) (algo|alguma coisa) [ainda] destrancad(o|a)",),
    which_unlocked=("o que [é que] (está|ficou) [ainda] destrancado",),
    smoke=("(há|tem) [(algum|alguma)] (fumo|fumaça) [(no|na|em) {area}]",),
    gas=("(há|tem) [(vazamento|fuga) de] (gás|monóxido de carbono) [(no|na|em) {area}]",),
    leak=(
        "(há|tem) [(um|uma|algum|alguma)] (vazamento|fuga de água|inundação) [(no|na|em) {area}]",
    ),
    motion=("(há|tem) [algum] movimento [(no|na|em) {area}]",),
    battery_any=("(há|tem|está) alguma (bateria|pilha) (fraca|baixa)",),
    battery_which=("(que|quais) (baterias|pilhas) estão (fracas|baixas)",),
    battery_all=("(as|todas as) (baterias|pilhas) estão (boas|bem)",),
    humidity=("qual [é] [a] (umidade|humidade) (no|na|do|da|em) {area}",),
    humidity_here=("qual [é] [a] (umidade|humidade) [aqui]",),
)
_VI = _Sentences(
    door=("{door:name} <state_q> {STATE} [hay] [chưa] [không]",),
    kind=(
        "{cover_classes:device_class} <state_q> {cover_states:state} (chưa|không)",
        "{cover_classes:device_class} <in> {area} <state_q> {cover_states:state} (chưa|không)",
    ),
    garage=("(nhà xe|ga ra) <state_q> {cover_states:state} (chưa|không)",),
    locks=("(cửa|ổ khóa) <state_q> {lock_states:state} (chưa|không)",),
    all_closed=(
        "(mọi thứ|tất cả|tất cả các cửa|nhà) [đã] [được] đóng [hết|kín] [cửa] (chưa|không)",
    ),
    all_locked=(
        "(mọi thứ|tất cả|tất cả các cửa|nhà) [đã] [được] khóa [hết|kín] [cửa] (chưa|không)",
    ),
    any_open=(
        "(có gì|có cái gì|còn gì|còn cái gì) [còn|đang] mở không",
        "tôi có để (quên|cái gì|gì) mở không",
    ),
    which_open=("(cái gì|những gì|cái nào) (đang|còn) mở",),
    any_unlocked=("(có gì|còn gì|còn cái gì) [còn|đang] chưa khóa không",),
    which_unlocked=("(cái gì|những gì|cái nào) (đang|còn) chưa khóa",),
    smoke=("[<in>] [{area}] có khói không", "có khói [<in>] [{area}] không"),
    gas=("có (rò rỉ khí ga|khí ga|khí co) không",),
    leak=("có (rò rỉ nước|nước rò|ngập nước) [<in>] [{area}] không",),
    motion=("có (chuyển động|ai di chuyển) [<in>] [{area}] không",),
    battery_any=("có pin nào (yếu|sắp hết) không",),
    battery_which=("(những pin nào|pin nào) (yếu|sắp hết)",),
    battery_all=("(tất cả pin|các pin) (có tốt|còn tốt|tốt) không",),
    humidity=("độ ẩm <in> {area} [là] (bao nhiêu|thế nào)",),
    humidity_here=("độ ẩm [ở đây] [là] (bao nhiêu|thế nào)",),
)

SENTENCES: Mapping[str, Mapping[str, list[dict[str, Any]]]] = {
    code: {INTENT: list(sentences.blocks())}
    for code, sentences in {
        "de": _DE,
        "en": _EN,
        "es": _ES,
        "fr": _FR,
        "pt": _PT,
        "pt-BR": _PT,
        "vi": _VI,
    }.items()
}
# Spanish says "cerrada" of a door that is closed and of one that is locked. The library takes it
# for "locked" wherever a lock has the name, which would answer another question than was asked.
LISTS: Mapping[str, Mapping[str, Any]] = {
    "es": {
        "lock_states": {
            "values": [
                {"in": "(cerrad|echad)(o|a)[s] con (llave|pestillo|cerrojo)", "out": "locked"},
                {"in": "(bloquead|asegurad)(o|a)[s]", "out": "locked"},
                {"in": "(desbloquead)(o|a)[s]", "out": "unlocked"},
                {"in": "sin (cerrar|echar) [con|la] (llave|pestillo|cerrojo)", "out": "unlocked"},
                {"in": "sin (bloquear|llave)", "out": "unlocked"},
            ]
        }
    }
}
