"""Makes a table with an index in a folder, fills it, and looks things up by key and by filter.

    python3 first_table.py /tmp

libace.so is looked for as the loader does, or where the environment variable LIBACE says.
"""

import os
import sys
from ctypes import CDLL, POINTER, byref, c_char_p, c_double, c_uint16, c_uint32, c_ulong, create_string_buffer

ADS_ANSI, ADS_CDX, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_LOCAL_SERVER = 1, 2, 0, 2, 1
ADS_COMPOUND, ADS_RESOLVE_IMMEDIATE, ADS_RTRIM, ADS_SOFTSEEK, ADS_STRINGKEY = 2, 1, 2, 1, 2

ace = CDLL(os.environ.get("LIBACE", "libace.so"))
handle, text, short, long = c_ulong, c_char_p, c_uint16, c_uint32
for name, *parameters in [
    ("AdsConnect60", text, short, text, text, long, POINTER(handle)),
    ("AdsCreateTable", handle, text, text, short, short, short, short, short, text, POINTER(handle)),
    ("AdsAppendRecord", handle),
    ("AdsSetString", handle, text, text, long),
    ("AdsSetDouble", handle, text, c_double),
    ("AdsWriteRecord", handle),
    ("AdsCreateIndex61", handle, text, text, text, text, text, long, long, POINTER(handle)),
    ("AdsGotoTop", handle),
    ("AdsSkip", handle, long),
    ("AdsAtEOF", handle, POINTER(short)),
    ("AdsGetString", handle, text, text, POINTER(long), short),
    ("AdsGetDouble", handle, text, POINTER(c_double)),
    ("AdsSeek", handle, text, short, short, short, POINTER(short)),
    ("AdsSetAOF", handle, text, short),
    ("AdsCloseTable", handle),
    ("AdsDisconnect", handle),
    ("AdsGetLastError", POINTER(long), text, POINTER(short)),
]:
    getattr(ace, name).argtypes = parameters


def call(name, *arguments):
    """Calls a function, and raises what libace.so says if it fails."""
    if getattr(ace, name)(*arguments) != 0:
        code, what, length = long(), create_string_buffer(601), short(601)
        ace.AdsGetLastError(byref(code), what, byref(length))
        raise OSError(f"{name}: {what.value.decode()}")


def answer(kind, name, *arguments):
    """What a function writes where its last argument points."""
    value = kind()
    call(name, *arguments, byref(value))
    return value.value


def string(table, field):
    buffer, length = create_string_buffer(64), long(64)
    call("AdsGetString", table, field, buffer, byref(length), ADS_RTRIM)
    return buffer.value.decode()


def print_rest(table, order):
    while not answer(short, "AdsAtEOF", table):
        paid = answer(c_double, "AdsGetDouble", table, b"PAID")
        print(f"{string(table, b'NAME'):<10} {string(table, b'TOWN'):<10} {paid:8.2f}")
        call("AdsSkip", order, 1)


folder = sys.argv[1] if len(sys.argv) > 1 else "."
connection = answer(handle, "AdsConnect60", folder.encode(), ADS_LOCAL_SERVER, None, None, 0)
fields = b"NAME,Character,20;TOWN,Character,20;PAID,Numeric,10,2"
table = answer(
    handle, "AdsCreateTable", connection, b"people.dbf", None, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING,
    ADS_IGNORERIGHTS, 0, fields,
)
for name, town, paid in [(b"Mercer", b"Leeds", 120.5), (b"Adams", b"York", 80), (b"Novak", b"Leeds", 310.25)]:
    call("AdsAppendRecord", table)
    call("AdsSetString", table, b"NAME", name, len(name))
    call("AdsSetString", table, b"TOWN", town, len(town))
    call("AdsSetDouble", table, b"PAID", paid)
    call("AdsWriteRecord", table)
order = answer(
    handle, "AdsCreateIndex61", table, b"people.cdx", b"NAME", b"UPPER(NAME)", None, None, ADS_COMPOUND, 0
)

print("all, by name:")
call("AdsGotoTop", order)
print_rest(table, order)

print("from M on:")
answer(short, "AdsSeek", order, b"M", 1, ADS_STRINGKEY, ADS_SOFTSEEK)
print_rest(table, order)

print("in Leeds:")
call("AdsSetAOF", table, b"TOWN = 'Leeds'", ADS_RESOLVE_IMMEDIATE)
call("AdsGotoTop", order)
print_rest(table, order)

call("AdsCloseTable", table)
call("AdsDisconnect", connection)
