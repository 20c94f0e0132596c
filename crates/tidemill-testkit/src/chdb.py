"""Answers queries: a line of JSON, [query, format], for each; `ok LENGTH` or `error LENGTH`, a line, and as many bytes."""

import json
import sys

from chdb.session import Session

session = Session(sys.argv[1])
answers = sys.stdout.buffer
for line in sys.stdin:
    query, format = json.loads(line)
    try:
        status, answer = "ok", session.query(query, format).bytes()
    except Exception as error:
        status, answer = "error", str(error).encode()
    answers.write(f"{status} {len(answer)}\n".encode() + answer)
    answers.flush()
