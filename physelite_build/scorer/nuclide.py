"""Reads isotopes: `^{238}_{92}U`, `U-238`, `铀238`."""

from __future__ import annotations

import re

from .answers import Nuclide

_SYMBOLS = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb "
    "Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au "
    "Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm"
).split()
_NUMBER_OF = {symbol: index + 1 for index, symbol in enumerate(_SYMBOLS)}
_NAMES = {
    "uranium": "U", "铀": "U", "thorium": "Th", "钍": "Th", "radium": "Ra", "镭": "Ra", "radon": "Rn", "氡": "Rn",
    "polonium": "Po", "钋": "Po", "lead": "Pb", "铅": "Pb", "carbon": "C", "碳": "C", "nitrogen": "N", "氮": "N",
    "oxygen": "O", "氧": "O", "helium": "He", "氦": "He", "hydrogen": "H", "氢": "H", "plutonium": "Pu", "钚": "Pu",
    "iodine": "I", "碘": "I", "cesium": "Cs", "铯": "Cs", "strontium": "Sr", "锶": "Sr", "barium": "Ba", "钡": "Ba",
    "krypton": "Kr", "氪": "Kr", "phosphorus": "P", "磷": "P", "aluminium": "Al", "铝": "Al", "lithium": "Li",
    "锂": "Li", "beryllium": "Be", "铍": "Be", "boron": "B", "硼": "B", "bismuth": "Bi", "铋": "Bi", "cobalt": "Co",
    "钴": "Co", "iron": "Fe", "铁": "Fe", "potassium": "K", "钾": "K", "protactinium": "Pa", "镤": "Pa",
    "neptunium": "Np", "镎": "Np", "silicon": "Si", "硅": "Si", "sodium": "Na", "钠": "Na", "xenon": "Xe", "氙": "Xe",
}  # fmt: skip
_DRESS = re.compile(r"\\(?:mathrm|text|ce|rm|isotope|mathop|nolimits)(?![A-Za-z])|[${}\s]")
_LEFT_SCRIPTS = re.compile(r"(?:\^(\d{1,3})(?:_(\d{1,3}))?|_(\d{1,3})\^(\d{1,3}))([A-Z][a-z]?)")
_DASHED = re.compile(r"([A-Z][a-z]?|[a-z]{4,}|[\u4e00-\u9fff])-?(\d{1,3})")


def read_nuclide(text: str) -> Nuclide | None:
    """Read an isotope; None when the text is none."""
    plain = _DRESS.sub("", text).strip(".。")
    match = _LEFT_SCRIPTS.fullmatch(plain)
    if match is not None:
        mass = match.group(1) or match.group(4)
        charge = match.group(2) or match.group(3)
        symbol = match.group(5)
        if symbol in _NUMBER_OF:
            return Nuclide(symbol, int(mass), int(charge) if charge else None)
    match = _DASHED.fullmatch(plain if "-" in plain or not plain.isascii() else plain.lower())
    if match is None:
        return None
    symbol = _NAMES.get(match.group(1).lower(), match.group(1))
    if symbol not in _NUMBER_OF:
        return None
    return Nuclide(symbol, int(match.group(2)), None)


def same_nuclide(reference: Nuclide, response: Nuclide) -> bool:
    """Tell whether two isotopes agree; a given atomic number must fit the element."""
    for nuclide in (reference, response):
        if nuclide is response and nuclide.charge not in {None, _NUMBER_OF[nuclide.element], reference.charge}:
            return False
    return reference.element == response.element and reference.mass == response.mass
