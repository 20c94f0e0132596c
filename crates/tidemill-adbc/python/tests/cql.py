"""One statement for a Cassandra node, such as one that makes a keyspace: CQL binary protocol v4, as far as that takes."""

import socket
import struct


def run(address, statement):
    """Runs ``statement``. Raises ``OSError`` with the node's words when it refuses."""
    host, _, port = address.rpartition(':')
    with socket.create_connection((host, int(port)), timeout=30) as node:
        version = b''.join(struct.pack('>H', len(text)) + text for text in (b'CQL_VERSION', b'3.0.0'))
        _ask(node, _STARTUP, struct.pack('>H', 1) + version)
        text = statement.encode()
        # Consistency ONE, no flags.
        _ask(node, _QUERY, struct.pack('>I', len(text)) + text + struct.pack('>HB', 1, 0))


def _ask(node, opcode, body):
    node.sendall(struct.pack('>BBhBI', 4, 0, 0, opcode, len(body)) + body)
    _, _, _, answer, length = struct.unpack('>BBhBI', _read(node, 9))
    body = _read(node, length)
    if answer == _ERROR:
        raise OSError(body[6:].decode(errors='replace'))


def _read(node, count):
    found = b''
    while len(found) < count:
        more = node.recv(count - len(found))
        if not more:
            raise OSError('the node closed the connection')
        found += more
    return found


_ERROR, _STARTUP, _QUERY = 0x00, 0x01, 0x07
