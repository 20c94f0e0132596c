"""Types at the prompt of `tidemill`, on a terminal of 60 columns, and looks at the screen."""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

WIDTH, HEIGHT = 60, 30


class Terminal:
    def __init__(self, arguments):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(arguments[0], arguments)
        size = struct.pack("HHHH", HEIGHT, WIDTH, 0, 0)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)
        self.text = ""

    def type(self, text):
        os.write(self.master, text.encode())

    def wait_for(self, expected, seconds=30):
        end = time.monotonic() + seconds
        while expected not in self.text:
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise SystemExit(f"no {expected!r} in {seconds} s; the screen:\n{self.text}")
            try:
                read = os.read(self.master, 65536)
            except OSError:
                raise SystemExit(f"ended before {expected!r}; the screen:\n{self.text}")
            # What moves the cursor or sets colours is no text.
            self.text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", read.decode(errors="replace"))
        end = self.text.index(expected) + len(expected)
        seen, self.text = self.text[:end], self.text[end:]
        return seen

    def ended(self):
        try:
            while os.read(self.master, 65536):
                pass
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


# Without arguments, on a terminal.
shell = Terminal([sys.argv[1]])
shell.wait_for("tidemill> ")

shell.type("SELECT id, name\r")
shell.type("FROM people;\r")
answer = shell.wait_for("3 rows in")
assert "Ann" in answer and "NULL" in answer, answer
shell.wait_for("tidemill> ")

# A word, and the name of a table.
shell.type("SELE\t name FROM peo\t;\r")
shell.wait_for("rows in")
shell.wait_for("tidemill> ")
shell.type("SELECT n\x01\x05ame FROM people;\r")
assert "Bob" in shell.wait_for("3 rows in")
shell.wait_for("tidemill> ")

shell.type("SELECT nam FROM people;\r")
fault = shell.wait_for("^")
assert "did you mean name?" in fault, fault
shell.wait_for("tidemill> ")

# More rows than the screen has, in lines that fit.
shell.type("SELECT repeat('x', 200) AS x, a.id FROM people a, people b, people c, people d;\r")
answer = shell.wait_for("58 more rows")
assert "…" in answer, answer
widest = max(len(line) for line in answer.splitlines() if line.startswith("│"))
assert widest <= WIDTH, widest
shell.wait_for("tidemill> ")

# Ctrl-C stops the statement and not the shell.
many = ", ".join(f"people p{number}" for number in range(20))
shell.type(f"SELECT COUNT(*) FROM {many};\r")
time.sleep(1.5)
shell.type("\x03")
shell.wait_for("the statement was stopped", 5)
shell.wait_for("tidemill> ")

# What was typed is there again, also for the next shell.
shell.type("\x1b[A\x1b[A\r")
shell.wait_for("58 more rows")
shell.wait_for("tidemill> ")
shell.type("\\q\r")
assert shell.ended() == 0

again = Terminal([sys.argv[1], "shell"])
again.wait_for("tidemill> ")
again.type("\x1b[A")
again.wait_for("\\q")
again.type("\x15\x04")
assert again.ended() == 0
