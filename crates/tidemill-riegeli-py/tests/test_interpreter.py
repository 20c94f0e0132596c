"""The interpreter is released where a chunk is read or written."""

import itertools
import os
import sys
import tempfile
import threading
import time
import unittest

import tidemill_riegeli as riegeli


def lets_others_run(work, seconds=20):
    """Whether another thread got the interpreter during `work`, which does nothing else that would give it away.

    Threads are not made to take turns meanwhile. The other one may be too late when the machine is busy, hence the tries,
    for so many `seconds`.
    """
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            go, ran = threading.Lock(), []
            go.acquire()
            thread = threading.Thread(target=lambda: (go.acquire(), ran.append(True)))
            thread.start()
            go.release()
            work()
            answer = bool(ran)
            thread.join()
            if answer:
                return True
        return False
    finally:
        sys.setswitchinterval(interval)


class Interpreter(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, 'f.riegeli')
        self.record = bytes(range(256)) * (1 << 14)
        with riegeli.RecordWriter(self.path, options='brotli:1') as writer:
            writer.write_records([self.record] * 40)

    def test_what_keeps_the_interpreter_is_seen(self):
        self.assertFalse(lets_others_run(lambda: sum(range(1 << 18)), seconds=0.3))

    def test_a_reader_releases_it(self):
        reader = riegeli.RecordReader(self.path)
        self.assertTrue(lets_others_run(reader.read_record))
        self.assertTrue(lets_others_run(lambda: reader.seek_numeric(0) or reader.read_record()))

    def test_a_search_releases_it(self):
        reader = riegeli.RecordReader(self.path)
        self.assertTrue(lets_others_run(lambda: reader.search_for_record(lambda record: -1)))

    def test_a_writer_releases_it(self):
        with riegeli.RecordWriter(self.path + '2', options='brotli:1') as writer:
            self.assertTrue(lets_others_run(lambda: writer.write_record(self.record)))
        with riegeli.RecordWriter(self.path + '2', options='brotli:1,chunk_size:1G') as writer:
            self.assertTrue(lets_others_run(lambda: writer.write_record(self.record) or writer.flush()))

    def test_a_data_source_releases_it(self):
        source = riegeli.RecordDataSource(self.path, cached_chunks=1)
        keys = itertools.cycle(range(40))
        self.assertTrue(lets_others_run(lambda: source[next(keys)]))
        self.assertTrue(lets_others_run(lambda: source.__getitems__([0, 5])))


if __name__ == '__main__':
    unittest.main()
