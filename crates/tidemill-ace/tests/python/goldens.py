"""Tables that Harbour wrote, looked at through libace.so: every record, memo, order, seek and scope that Harbour saw.

goldens.py LIBRARY CORPUS: works on a copy of the corpus, whose large files are unpacked, prints what differs, and ends with how many checks were made.
"""

import ctypes
import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path

ANSI, COMPATIBLE, EXCLUSIVE = 1, 0, 1
NTX, CDX, VFP = 1, 2, 4
STRING_KEY, DOUBLE_KEY = 2, 4
SOFT, HARD = 1, 2
TOP, BOTTOM = 1, 2
IGNORE_FILTERS, RESPECT_SCOPES = 2, 3

library = ctypes.CDLL(sys.argv[1])
folder = Path(tempfile.mkdtemp())
checks = failures = 0


def check(what, found, expected):
    global checks, failures
    checks += 1
    if found != expected:
        failures += 1
        if failures <= 20:
            print(f"{what}: found {found!r:.200}, expected {expected!r:.200}")


def call(name, *arguments):
    function = getattr(library, name)
    function.restype = ctypes.c_uint32
    return function(*arguments)


def text(value):
    return ctypes.create_string_buffer(value if isinstance(value, bytes) else value.encode("latin1"))


def answer(name, *arguments, kind=ctypes.c_uint16):
    place = kind()
    code = call(name, *arguments, ctypes.byref(place))
    return code, place.value


def u16(value):
    return ctypes.c_uint16(value)


def field_of(table, at):
    buffer, length = ctypes.create_string_buffer(70_000), ctypes.c_uint32(70_000)
    code = call("AdsGetField", table, ctypes.c_void_p(at), buffer, ctypes.byref(length), u16(0))
    return code, buffer.raw[: length.value]


def known(value):
    """The bytes of a text in the corpus."""
    if isinstance(value, str):
        return value.encode("latin1")
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) and "hex" in value else None


def place(table):
    _, is_eof = answer("AdsAtEOF", table)
    _, record = answer("AdsGetRecordNum", table, u16(IGNORE_FILTERS), kind=ctypes.c_uint32)
    return None if is_eof else record


def walk(order, table, limit, step=1):
    records = []
    call("AdsGotoTop" if step > 0 else "AdsGotoBottom", order)
    while len(records) <= limit:
        record = place(table)
        if record is None or answer("AdsAtBOF", table)[1]:
            break
        records.append(record)
        call("AdsSkip", order, ctypes.c_int32(step))
    return records


def look_at_records(name, table, golden):
    _, count = answer("AdsGetRecordCount", table, u16(IGNORE_FILTERS), kind=ctypes.c_uint32)
    check(f"{name}: records", count, len(golden["records"]))
    for record in golden["records"]:
        call("AdsGotoRecord", table, ctypes.c_uint32(record["r"]))
        check(f"{name} {record['r']}: deleted", bool(answer("AdsIsRecordDeleted", table)[1]), record["del"])
        for at, (shape, value) in enumerate(zip(golden["struct"], record["v"]), 1):
            what, letter = f"{name} {record['r']} {shape[0]}", shape[1][0]
            if letter in "CQ" and known(value) is not None:
                check(what, field_of(table, at)[1].rstrip(b" \0"), known(value).rstrip(b" \0"))
            elif letter == "M" and value is not None:
                memo = field_of(table, at)[1]
                if isinstance(value, dict) and "md5" in value:
                    check(what, hashlib.md5(memo).hexdigest(), value["md5"].lower())
                elif known(value) is not None:
                    check(what, memo, known(value))
            elif letter in "NFIBY28+Z" and isinstance(value, (int, float)):
                code, found = answer("AdsGetDouble", table, ctypes.c_void_p(at), kind=ctypes.c_double)
                check(what, code == 0 and abs(found - value) <= 1e-6 * max(1, abs(value)), True)
            elif letter == "L" and isinstance(value, bool):
                check(what, bool(answer("AdsGetLogical", table, ctypes.c_void_p(at))[1]), value)


def key_of(value, keytype):
    if keytype == "C":
        key = known(value)
        return None if key is None else (text(key), u16(len(key)), u16(STRING_KEY))
    if keytype == "N" and value is not None:
        return ctypes.byref(ctypes.c_double(value)), u16(8), u16(DOUBLE_KEY)
    return None


def look_at_order(name, order, table, golden):
    what = f"{name} {golden['tag']}"
    records = walk(order, table, golden["keycount"] + 5)
    if "recnos" in golden:
        check(f"{what}: walked", records, golden["recnos"])
        check(f"{what}: walked back", walk(order, table, golden["keycount"] + 5, -1), golden["recnos"][::-1])
    else:
        listed = "".join(f"{record}," for record in records)
        expected = golden["recnos_md5_of_comma_terminated_list"].lower()
        check(f"{what}: walked", hashlib.md5(listed.encode()).hexdigest(), expected)
        check(f"{what}: walked back", walk(order, table, golden["keycount"] + 5, -1), records[::-1])
        for number, record, _, _ in golden["samples_keyno_recno_key"]:
            call("AdsGotoRecord", table, ctypes.c_uint32(record))
            check(f"{what}: number of {record}", answer("AdsGetKeyNum", order, u16(IGNORE_FILTERS), kind=ctypes.c_uint32)[1], number)
    for value, is_soft, is_last, is_found, record, is_eof, _ in golden["seeks"]:
        key = key_of(value, golden["keytype"])
        if key is None or (is_last and is_soft):
            continue
        if is_last:
            _, found = answer("AdsSeekLast", order, *key)
        else:
            _, found = answer("AdsSeek", order, *key, u16(SOFT if is_soft else HARD))
        expected = None if is_eof else record
        check(f"{what}: {value!r} {is_soft} {is_last}", (bool(found), place(table)), (is_found, expected))
    for top, bottom, count, expected, _ in golden["scopes"]:
        keys = [key_of(bound, golden["keytype"]) for bound in (top, bottom)]
        if None in keys or not isinstance(expected, list):
            continue
        for which, key in zip((TOP, BOTTOM), keys):
            call("AdsSetScope", order, u16(which), *key)
        check(f"{what}: within {top!r}..{bottom!r}", walk(order, table, count + 5), expected)
        _, found = answer("AdsGetRecordCount", order, u16(RESPECT_SCOPES), kind=ctypes.c_uint32)
        check(f"{what}: counted within", found, count)
        for which in (TOP, BOTTOM):
            call("AdsClearScope", order, u16(which))


def look_at(path):
    golden = json.loads(path.read_text())
    name, rdd = golden["file"], golden["rdd"]
    kind = NTX if "NTX" in rdd else VFP if "VFP" in rdd else CDX
    table = ctypes.c_uint64()
    arguments = (u16(kind), u16(ANSI), u16(COMPATIBLE), u16(0), ctypes.c_uint32(EXCLUSIVE))
    code = call("AdsOpenTable", connection, text(name), None, *arguments, ctypes.byref(table))
    check(f"{name}: opened", code, 0)
    if code:
        return
    if "records" in golden:
        look_at_records(name, table, golden)
    else:
        _, count = answer("AdsGetRecordCount", table, u16(IGNORE_FILTERS), kind=ctypes.c_uint32)
        check(f"{name}: records", count, golden["lastrec"])
    orders = path.with_name(f"{path.stem}.orders.json")
    listed = json.loads(orders.read_text()) if orders.exists() else golden.get("orders", [])
    for order in listed:
        if kind == NTX:
            handles, length = (ctypes.c_uint64 * 8)(), u16(8)
            code = call("AdsOpenIndex", table, text(f"{order['bag']}.ntx"), handles, ctypes.byref(length))
            handle = ctypes.c_uint64(handles[0])
        else:
            handle = ctypes.c_uint64()
            code = call("AdsGetIndexHandle", table, text(order["tag"]), ctypes.byref(handle))
        check(f"{name} {order['tag']}: opened", code, 0)
        if code == 0:
            look_at_order(name, handle, table, order)
        if kind == NTX:
            call("AdsCloseIndex", handle)
    check(f"{name}: closed", call("AdsCloseTable", table), 0)


try:
    for path in Path(sys.argv[2]).iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    connection = ctypes.c_uint64()
    code = call("AdsConnect60", text(str(folder)), u16(1), None, None, ctypes.c_uint32(0), ctypes.byref(connection))
    check("connected", code, 0)
    call("AdsShowDeleted", u16(1))
    for golden in sorted(folder.glob("*.json")):
        about = json.loads(golden.read_text())
        # ADS knows neither NSX nor SMT.
        if isinstance(about, dict) and "struct" in about and "NSX" not in about["rdd"] and "smt" not in golden.name:
            look_at(golden)
    print(f"{checks} checks, {failures} failures")
    sys.exit(1 if failures else 0)
finally:
    shutil.rmtree(folder, ignore_errors=True)
