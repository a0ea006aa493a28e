"""What the rules call sensitive, whatever a model says."""

import pytest

from assistant.memory.words import is_sensitive


@pytest.mark.parametrize(
    "text",
    [
        "I am allergic to nuts",
        "Soy alérgica a los frutos secos",
        "Grandma takes her pills at eight",
        "Mamá toma la medicación a las ocho",
        "Tom has diabetes",
        "My blood type is A positive",
        "The alarm code is 4 7 1 1",
        "The wifi password is on the fridge",
        "La contraseña del wifi es marmota",
        "El código de la alarma está en el cajón",
        "My salary comes on the first",
        "El sueldo llega el día uno",
        "My account is ES91 2100 0418 4502 0005 1332",
        "The card is 4111 1111 1111 1111",
        "The spare key is under the flower pot",
        "La llave está debajo de la maceta",
        "Das Passwort steht am Kühlschrank",
        "Le mot de passe est sur le frigo",
        "Mật khẩu ở trên tủ lạnh",
        "A senha está na geladeira",
    ],
)
def test_health_money_codes_and_keys(text: str) -> None:
    assert is_sensitive(text)


@pytest.mark.parametrize(
    "text",
    [
        "The bin goes out on Tuesday",
        "La basura sale el martes",
        "Ana's birthday is on May 4",
        "The plumber's number is 555 0142",
        "The cat is called Miércoles",
        "The key to good bread is time",
        "Tom's favourite pen is blue",
        "El gato se llama Banqueta",
        "We pinned the map to the wall",
        "The encoder is in the attic",
        "Our contact at the school is Ana",
    ],
)
def test_what_a_house_may_hear(text: str) -> None:
    assert not is_sensitive(text)
