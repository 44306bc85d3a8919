"""Units of physics: what they measure and how large they are.

A unit is a factor to SI and seven exponents (m, kg, s, A, K, mol, cd); angles count as pure numbers. Names are read
in symbols with prefixes, English words and Chinese. Source: SI Brochure, 9th edition (BIPM, 2019), CODATA 2018.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

Dimension = tuple[float, ...]
NO_DIMENSION: Dimension = (0.0,) * 7
MAX_UNIT_CHARS = 160
MAX_EXPONENT = 20.0


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: value_in_si = value * factor + offset."""

    factor: float
    """Size in SI units."""
    dimension: Dimension
    """Exponents of m, kg, s, A, K, mol, cd."""
    offset: float = 0.0
    """Zero point in kelvin for temperature scales, else 0."""
    is_degree: bool = False
    """True for the degree of arc, whose number is often given bare."""

    def times(self, other: Unit, power: float = 1.0) -> Unit:
        """Return this unit multiplied by a power of another one; zero points are lost."""
        pairs = zip(self.dimension, other.dimension, strict=True)
        return Unit(self.factor * other.factor**power, tuple(a + power * b for a, b in pairs))


PURE = Unit(1.0, NO_DIMENSION)
THINGS = Unit(1.0, (99.0,) * 7)
"""Stands for counted things that are no unit (pages, oscillations); agrees with itself only."""


def _dim(**powers: float) -> Dimension:
    return tuple(powers.get(name, 0.0) for name in ("m", "kg", "s", "A", "K", "mol", "cd"))


_FORCE = _dim(m=1, kg=1, s=-2)
_ENERGY = _dim(m=2, kg=1, s=-2)
_PRESSURE = _dim(m=-1, kg=1, s=-2)
_VOLT = _dim(m=2, kg=1, s=-3, A=-1)
_SECOND = _dim(s=1)
_METRE = _dim(m=1)
_KILOGRAM = _dim(kg=1)

# Symbol, factor, dimension, takes SI prefixes, other spellings (English words take an s, prefixes as words too).
_TABLE: tuple[tuple[str, float, Dimension, bool, str], ...] = (
    ("m", 1.0, _METRE, True, "meter metre 米"),
    ("g", 1e-3, _KILOGRAM, True, "gram gramme 克"),
    ("s", 1.0, _SECOND, True, "sec second 秒 秒钟"),
    ("A", 1.0, _dim(A=1), True, "amp ampere 安 安培"),
    ("K", 1.0, _dim(K=1), True, "kelvin 开 开尔文"),
    ("mol", 1.0, _dim(mol=1), True, "mole 摩 摩尔"),
    ("cd", 1.0, _dim(cd=1), True, "candela 坎德拉"),
    ("N", 1.0, _FORCE, True, "newton 牛 牛顿"),
    ("J", 1.0, _ENERGY, True, "joule 焦 焦耳"),
    ("W", 1.0, _dim(m=2, kg=1, s=-3), True, "watt 瓦 瓦特"),
    ("Pa", 1.0, _PRESSURE, True, "pascal 帕 帕斯卡"),
    ("Hz", 1.0, _dim(s=-1), True, "hertz 赫 赫兹"),
    ("C", 1.0, _dim(s=1, A=1), True, "coulomb 库 库仑"),
    ("V", 1.0, _VOLT, True, "volt 伏 伏特"),
    ("Ω", 1.0, _dim(m=2, kg=1, s=-3, A=-2), True, "ohm 欧 欧姆 ω"),
    ("S", 1.0, _dim(m=-2, kg=-1, s=3, A=2), True, "siemens mho 西 西门子"),
    ("F", 1.0, _dim(m=-2, kg=-1, s=4, A=2), True, "farad 法 法拉"),
    ("H", 1.0, _dim(m=2, kg=1, s=-2, A=-2), True, "henry henries 亨 亨利"),
    ("Wb", 1.0, _dim(m=2, kg=1, s=-2, A=-1), True, "weber 韦 韦伯"),
    ("T", 1.0, _dim(kg=1, s=-2, A=-1), True, "tesla 特 特斯拉"),
    ("lm", 1.0, _dim(cd=1), True, "lumen 流明"),
    ("lx", 1.0, _dim(m=-2, cd=1), True, "lux 勒克斯"),
    ("Bq", 1.0, _dim(s=-1), True, "becquerel 贝可 贝克勒尔"),
    ("Ci", 3.7e10, _dim(s=-1), True, "curie 居里"),
    ("Gy", 1.0, _dim(m=2, s=-2), True, "gray 戈瑞"),
    ("Sv", 1.0, _dim(m=2, s=-2), True, "sievert 希沃特"),
    ("L", 1e-3, _dim(m=3), True, "l liter litre 升"),
    ("eV", 1.602176634e-19, _ENERGY, True, "electronvolt 电子伏 电子伏特 ev"),
    ("cal", 4.184, _ENERGY, True, "calorie 卡 卡路里"),
    ("Cal", 4184.0, _ENERGY, False, "大卡"),
    ("erg", 1e-7, _ENERGY, False, "尔格"),
    ("dyn", 1e-5, _FORCE, False, "dyne 达因"),
    ("kgf", 9.80665, _FORCE, False, "千克力 公斤力"),
    ("bar", 1e5, _PRESSURE, True, "巴"),
    ("atm", 101325.0, _PRESSURE, False, "atmosphere 大气压 标准大气压 个大气压 个标准大气压"),
    ("mmHg", 133.322387415, _PRESSURE, False, "毫米汞柱 毫米水银柱"),
    ("cmHg", 1333.22387415, _PRESSURE, False, "厘米汞柱 厘米水银柱"),
    ("Torr", 133.322368421, _PRESSURE, False, "torr 托"),
    ("psi", 6894.757293, _PRESSURE, False, ""),
    ("Å", 1e-10, _METRE, False, "angstrom Angstrom ångström Ångström 埃 AA"),
    ("au", 1.495978707e11, _METRE, False, "AU 天文单位"),
    ("ly", 9.4607304725808e15, _METRE, False, "lightyear 光年"),
    ("pc", 3.0856775814913673e16, _METRE, True, "parsec 秒差距"),
    ("in", 0.0254, _METRE, False, "inch inches 英寸"),
    ("ft", 0.3048, _METRE, False, "foot feet 英尺"),
    ("mi", 1609.344, _METRE, False, "mile 英里"),
    ("nmi", 1852.0, _METRE, False, "海里"),
    ("li", 500.0, _METRE, False, "里"),
    ("fm", 1e-15, _METRE, False, "fermi 费米"),
    ("μ", 1e-6, _METRE, False, "micron"),
    ("min", 60.0, _SECOND, False, "minute 分 分钟"),
    ("h", 3600.0, _SECOND, False, "hr hrs hour 小时 时"),
    ("d", 86400.0, _SECOND, False, "day 天 日"),
    ("week", 604800.0, _SECOND, False, "周 星期"),
    ("yr", 31557600.0, _SECOND, True, "year 年"),
    ("t", 1e3, _KILOGRAM, True, "ton tonne 吨"),
    ("u", 1.6605390666e-27, _KILOGRAM, False, "amu Da 原子质量单位"),
    ("lb", 0.45359237, _KILOGRAM, False, "lbs pound 磅"),
    ("斤", 0.5, _KILOGRAM, False, ""),
    ("公斤", 1.0, _KILOGRAM, False, ""),
    ("公里", 1e3, _METRE, False, ""),
    ("度电", 3.6e6, _ENERGY, False, ""),
    ("hp", 745.69987, _dim(m=2, kg=1, s=-3), False, "horsepower 马力"),
    ("G", 1e-4, _dim(kg=1, s=-2, A=-1), True, "gauss Gauss Gs 高斯"),
    ("rad", 1.0, NO_DIMENSION, True, "radian 弧度"),
    ("sr", 1.0, NO_DIMENSION, False, "steradian 球面度"),
    ("deg", math.pi / 180, NO_DIMENSION, False, "° degree 度 角度"),
    ("arcmin", math.pi / 10800, NO_DIMENSION, False, "arcminute ′ 角分"),
    ("arcsec", math.pi / 648000, NO_DIMENSION, False, "arcsecond ″ 角秒"),
    ("rev", 2 * math.pi, NO_DIMENSION, False, "r revolution 转"),
    ("rpm", math.pi / 30, _dim(s=-1), False, "RPM"),
    ("kph", 1 / 3.6, _dim(m=1, s=-1), False, "kmph kmh"),
    ("mph", 0.44704, _dim(m=1, s=-1), False, ""),
    ("knot", 1852 / 3600, _dim(m=1, s=-1), False, "kn 节"),
    ("c", 299792458.0, _dim(m=1, s=-1), False, "光速"),
    ("cc", 1e-6, _dim(m=3), False, ""),
    ("D", 1.0, _dim(m=-1), False, "diopter dioptre 屈光度"),
    ("unit", 1.0, NO_DIMENSION, False, "time times photon electron particle turn 圈 个 次 倍 匝 条 种 只 颗 滴 块 根 份 名 人"),
)  # fmt: skip
_PREFIXES = {
    "Y": 1e24, "Z": 1e21, "E": 1e18, "P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "h": 1e2, "da": 10.0,
    "d": 0.1, "c": 1e-2, "m": 1e-3, "μ": 1e-6, "u": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15, "a": 1e-18,
}  # fmt: skip
_WORD_PREFIXES = {
    "tera": 1e12, "giga": 1e9, "mega": 1e6, "kilo": 1e3, "hecto": 1e2, "deci": 0.1, "centi": 1e-2, "milli": 1e-3,
    "micro": 1e-6, "nano": 1e-9, "pico": 1e-12, "femto": 1e-15,
    "太": 1e12, "吉": 1e9, "兆": 1e6, "千": 1e3, "百": 1e2, "分": 0.1, "厘": 1e-2, "毫": 1e-3, "微": 1e-6, "纳": 1e-9,
    "皮": 1e-12, "飞": 1e-15,
}  # fmt: skip
_PHRASES = (
    (r"electron[\s-]*volts?", "eV"), (r"(?i:degrees?\s+celsius|celsius|degc\b)|摄氏度", "°C"), (r"light[\s-]*years?", "ly"),
    (r"(?i:degrees?\s+fahrenheit|fahrenheit|degf\b)|华氏度", "°F"), (r"kilowatt[\s-]*hours?|千瓦时|千瓦小时", "kW·h"),
    (r"square[\s-]+([A-Za-z]+)", r"\1^2"), (r"cubic[\s-]+([A-Za-z]+)", r"\1^3"), (r"([A-Za-z]+)\s+squared", r"\1^2"),
    (r"([A-Za-z]+)\s+cubed", r"\1^3"), (r"(?:^|\s+)per\s+", "/"), (r"每二次方", "/平方"), (r"二次方", "平方"), (r"每", "/"),
    (r"(?<=[a-z])-(?=[a-z])", "·"), (r"mm\s*of\s*Hg|mm\s+Hg", "mmHg"), (r"cm\s+Hg", "cmHg"),
)  # fmt: skip
_NAME = re.compile(r"[A-Za-zμΩωÅåö°′″]+|[一-鿿]+")
_EXPONENT = re.compile(r"\^?\(?([-+]?\d{1,2}(?:\.\d{1,3})?)(?:/(\d))?\)?")


def _entries() -> dict[str, Unit]:
    names: dict[str, Unit] = {}
    for symbol, factor, dimension, prefixed, spellings in _TABLE:
        unit = Unit(factor, dimension, is_degree=symbol == "deg")
        names.setdefault(symbol, unit)
        if prefixed:
            for prefix, size in _PREFIXES.items():
                names.setdefault(prefix + symbol, Unit(factor * size, dimension))
        for word in spellings.split():
            names.setdefault(word, unit)
            if word.isascii() and len(word) > 1:
                names.setdefault(word + "s", unit)
                names.setdefault(word.capitalize(), unit)
                names.setdefault(word.capitalize() + "s", unit)
            if prefixed and (len(word) > 2 or not word.isascii()):
                for prefix, size in _WORD_PREFIXES.items():
                    if prefix.isascii() == word.isascii():
                        names.setdefault(prefix + word, Unit(factor * size, dimension))
                        names.setdefault(prefix + word + "s", Unit(factor * size, dimension))
    names["kg"] = Unit(1.0, _KILOGRAM)
    names["min"] = Unit(60.0, _SECOND)
    names["°C"] = Unit(1.0, _dim(K=1), offset=273.15)
    names["°F"] = Unit(5 / 9, _dim(K=1), offset=273.15 - 32 * 5 / 9)
    names["°K"] = Unit(1.0, _dim(K=1))
    names["摄氏"] = names["°C"]
    return names


_UNITS = _entries()


def _normalise(text: str) -> str:
    """Turn a LaTeX, English or Chinese unit into symbols, digits, `·`, `/`, `^` and parentheses."""
    for _ in range(3):
        text = re.sub(
            r"\\frac\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", r"(\1)/(\2)", text
        )
    text = re.sub(r"\\mathring\s*\{\s*A\s*\}|\\AA(?![A-Za-z])|\\r\s*\{\s*A\s*\}", "Å", text)
    text = re.sub(r"\\(?:mathrm|textrm|text|operatorname|mathit|mathsf|mathbf|rm|hbox|mbox)(?![A-Za-z])", " ", text)
    text = re.sub(r"(?:\{\s*\})?\s*\^\s*\{?\s*(?:\\circ|°|o)\s*\}?", "°", text)
    text = re.sub(r"\\circ(?![A-Za-z])", "°", text)
    text = re.sub(r"\\(?:cdot|times|ast|bullet)(?![A-Za-z])|[*·×.]", "·", text)
    text = re.sub(r"\\(?:mu|upmu)(?![A-Za-z])\s*", "μ", text)
    text = re.sub(r"\\(?:Omega|ohm)(?![A-Za-z])", "Ω", text)
    text = re.sub(r"\\prime\b", "′", text)
    text = re.sub(r"\^\s*\{([^{}]*)\}", lambda m: "^(" + m.group(1).replace(" ", "") + ")", text)
    text = text.replace("{", " ").replace("}", " ").replace("\\/", "/").replace('"', "″").replace("'", "′")
    for pattern, symbol in _PHRASES:
        text = re.sub(pattern, symbol, text)
    text = re.sub(r"\s*\^\s*", "^", text)
    text = re.sub(r"μ\s+(?=[A-Za-z])", "μ", text)
    text = re.sub(r"°\s*(?=[CFK]\b)", "°", text)
    return re.sub(r"\s+", " ", text).strip(" ·")


@lru_cache(maxsize=4096)
def parse_unit(text: str) -> tuple[Unit, ...]:
    r"""Read a unit and return its possible meanings, the likeliest first.

    Args:
        text: The unit as typed, for example `\mathrm{kg\,m^2/s^2}`, `米/秒` or `meters per second`.

    Returns:
        Empty when the text is no unit. `J/kg K` has two meanings, and `ms^{-1}` is also metres per second.
    """
    if not text.strip() or len(text) > MAX_UNIT_CHARS:
        return ()
    plain = _normalise(text)
    if not plain or "\\" in plain:
        return ()
    meanings: list[Unit] = []
    for joined in (False, True):
        for split_ms in (False, True):
            unit = _UnitReader(plain, denominator_joined=joined, split_ms=split_ms).read()
            if unit is not None and unit not in meanings:
                meanings.append(unit)
    return tuple(meanings)


class _UnitReader:
    """Reads products and quotients of unit names from left to right."""

    def __init__(self, text: str, *, denominator_joined: bool, split_ms: bool) -> None:
        self.text = text
        self.index = 0
        self.denominator_joined = denominator_joined
        self.split_ms = split_ms

    def read(self) -> Unit | None:
        unit = self._product(depth=0)
        return unit if unit is not None and self.index == len(self.text) else None

    def _product(self, *, depth: int) -> Unit | None:
        if depth > 4:
            return None
        total: Unit | None = None
        sign = 1.0
        while self.index < len(self.text):
            character = self.text[self.index]
            if character == ")":
                break
            if character in " ·":
                if character == "·" and total is None:
                    return None
                self.index += 1
                if not self.denominator_joined:
                    sign = 1.0
                continue
            if character == "/":
                self.index += 1
                self._skip_spaces()
                sign = -1.0
                total = PURE if total is None else total
                if self.index < len(self.text) and self.text[self.index] in " ·/":
                    return None
            factor = self._factor(depth=depth)
            if factor is None:
                return None
            is_first = total is None and sign > 0
            total = factor if is_first else (total or PURE).times(factor, sign)
        return total

    def _skip_spaces(self) -> None:
        while self.index < len(self.text) and self.text[self.index] == " ":
            self.index += 1

    def _factor(self, *, depth: int) -> Unit | None:
        if self.index < len(self.text) and self.text[self.index] == "(":
            self.index += 1
            unit = self._product(depth=depth + 1)
            if unit is None or self.index >= len(self.text) or self.text[self.index] != ")":
                return None
            self.index += 1
            return self._powered(unit)
        if self.text.startswith("1/", self.index):
            self.index += 1
            return PURE
        match = _NAME.match(self.text, self.index)
        if match is None:
            return None
        self.index = match.end()
        name = match.group()
        squared = 1.0
        if name.startswith(("平方", "立方")):
            squared = 2.0 if name[0] == "平" else 3.0
            name = name[2:]
        power_ahead = _EXPONENT.match(self.text, self.index)
        if self.split_ms and name == "ms" and power_ahead is not None and power_ahead.group(1).startswith("-"):
            return self._powered(_UNITS["s"]).times(_UNITS["m"])
        units = _split_name(name)
        if units is None:
            return None
        last = self._powered(units[-1])
        for unit in units[:-1]:
            last = unit.times(last)
        return last if squared == 1.0 else PURE.times(last, squared)

    def _powered(self, unit: Unit) -> Unit:
        match = _EXPONENT.match(self.text, self.index)
        if match is None or abs(float(match.group(1))) > MAX_EXPONENT:
            return unit
        text = match.group()
        if not text.startswith("^") and self.text[match.end() : match.end() + 1].isalnum():
            return unit
        if text.count("(") != text.count(")"):
            if not text.endswith(")"):
                return unit
            self.index = match.end() - 1
        else:
            self.index = match.end()
        power = float(match.group(1)) / float(match.group(2) or 1) if match.group(2) != "0" else 1.0
        return PURE.times(unit, power)


def _split_name(name: str) -> list[Unit] | None:
    """Find a name in the table, or as two or three names written without a dot (Nm, kWh, 牛米)."""
    if name in _UNITS:
        return [_UNITS[name]]
    if len(name) > 12:
        return None
    for cut in range(len(name) - 1, 0, -1):
        head, tail = name[:cut], name[cut:]
        if head in _UNITS and tail in _UNITS and _joins(head, tail):
            return [_UNITS[head], _UNITS[tail]]
    return None


_JOINABLE = frozenset("N J W Pa V A C kg g m s h kW mA mAh k T Wb eV kN kJ cm mm km".split())


def _joins(head: str, tail: str) -> bool:
    if not head.isascii():
        return True
    return head in _JOINABLE and tail in {"m", "s", "h", "K", "cm", "kg", "mol", "A"}
