"""Positions, regions, metadata, errors: values that compare, print and travel between processes."""

import io
import pickle
import unittest

import tidemill_riegeli as riegeli

Position = riegeli.RecordPosition


class Positions(unittest.TestCase):
    def test_positions_order_as_their_texts_numbers_and_bytes(self):
        positions = [Position(0, 0), Position(64, 0), Position(64, 3), Position(1 << 40, 7), Position((1 << 64) - 1, 0)]
        self.assertEqual(sorted(reversed(positions)), positions)
        self.assertEqual(sorted(positions, key=Position.to_bytes), positions)
        for position in positions:
            self.assertEqual(Position.from_str(str(position)), position)
            self.assertEqual(Position.from_bytes(position.to_bytes()), position)
            self.assertEqual(position.numeric, position.chunk_begin + position.record_index)
            self.assertEqual(eval(repr(position), {'RecordPosition': Position}), position)
            self.assertEqual(pickle.loads(pickle.dumps(position)), position)
            self.assertEqual(hash(Position(position.chunk_begin, position.record_index)), hash(position))
        self.assertEqual(str(Position(64, 3)), '64/3')
        self.assertNotEqual(Position(64, 3), '64/3')

    def test_what_is_no_position_is_refused(self):
        for wrong in ('', '64', '64/-1', '18446744073709551615/1'):
            with self.assertRaises(ValueError):
                Position.from_str(wrong)
        for wrong in (b'', b'\x80', b'\xff' * 16):
            with self.assertRaises(ValueError):
                Position.from_bytes(wrong)
        with self.assertRaises(OverflowError):
            Position((1 << 64) - 1, 1)
        with self.assertRaises(OverflowError):
            Position(-1, 0)


class Values(unittest.TestCase):
    def test_regions_print_as_those_of_the_cpp_library(self):
        region = riegeli.SkippedRegion(64, 162, 'it\'s damaged')
        self.assertEqual(str(region), "[64, 162): it's damaged")
        self.assertEqual(repr(region), 'SkippedRegion(64, 162, "it\'s damaged")')
        self.assertEqual(region.length, 98)
        self.assertEqual(pickle.loads(pickle.dumps(region)), region)
        with self.assertRaises(ValueError):
            riegeli.SkippedRegion(2, 1, '')

    def test_metadata_travel(self):
        metadata = riegeli.RecordsMetadata(file_comment='ä', num_records=-1)
        metadata.record_type_name = 'p.M'
        metadata.file_descriptor = [b'\x0a\x00']
        self.assertEqual(pickle.loads(pickle.dumps(metadata)), metadata)
        # Wire format: field 1 and 2 text, 3 bytes, 5 a varint of ten bytes.
        self.assertEqual(
            metadata.SerializeToString(), b'\x0a\x02\xc3\xa4\x12\x03p.M\x1a\x02\x0a\x00\x28' + b'\xff' * 9 + b'\x01'
        )
        self.assertIn("file_comment='ä'", repr(metadata))
        with self.assertRaises(riegeli.RiegeliError) as raised:
            riegeli.RecordsMetadata.FromString(b'\x0a\x05a')
        self.assertEqual(raised.exception.kind, 'metadata')

    def test_errors_travel_with_their_facts(self):
        try:
            riegeli.RecordReader(b'x' * 64).read_record()
        except riegeli.RiegeliError as error:
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual(str(again), str(error))
            self.assertEqual((again.kind, again.offset), ('corrupt', error.offset))
        self.assertIsNone(riegeli.RiegeliError('of Python code').offset)

    def test_there_is_a_class_for_each_status_of_the_cpp_library(self):
        codes = {}
        for name in dir(riegeli):
            if name.endswith('Error') and name != 'RiegeliError':
                self.assertTrue(issubclass(getattr(riegeli, name), riegeli.RiegeliError))
                codes[getattr(riegeli, name).code] = name
        self.assertEqual(sorted(codes), list(range(1, 17)))
        self.assertEqual((codes[3], codes[15], codes[16]), ('InvalidArgumentError', 'DataLossError', 'UnauthenticatedError'))
        with self.assertRaises(riegeli.FailedPreconditionError):
            riegeli.RecordReader(b'').last_pos
        with self.assertRaises(riegeli.InvalidArgumentError):
            riegeli.RecordWriter(io.BytesIO(), options='level:11')

    def test_a_record_type_is_set_with_its_dependencies_first(self):
        class File:
            def __init__(self, name, dependencies=()):
                self.name, self.dependencies, self.serialized_pb = name, dependencies, name.encode()

        base = File('base')

        class Message:
            class DESCRIPTOR:
                full_name = 'p.M'
                file = File('top', [File('left', [base]), File('right', [base])])

        metadata = riegeli.RecordsMetadata()
        riegeli.set_record_type(metadata, Message)
        self.assertEqual(metadata.record_type_name, 'p.M')
        self.assertEqual(metadata.file_descriptor, [b'base', b'left', b'right', b'top'])
        self.assertIsNone(riegeli.get_record_type(riegeli.RecordsMetadata()))

    def test_a_record_type_becomes_a_class_again(self):
        try:
            from google.protobuf import timestamp_pb2
        except ImportError:
            self.skipTest('protobuf is not installed')
        metadata = riegeli.RecordsMetadata()
        riegeli.set_record_type(metadata, timestamp_pb2.Timestamp)
        message = riegeli.get_record_type(metadata)(seconds=5)
        self.assertEqual(timestamp_pb2.Timestamp.FromString(message.SerializeToString()).seconds, 5)


if __name__ == '__main__':
    unittest.main()
