"""Makes the files of this folder with the Python package protobuf: records as u32 LE length and bytes, and their values as JSON.

The messages are declared here by the field numbers of tensorflow/core/example/example.proto and feature.proto.
"""

import base64
import json
import struct

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

F = descriptor_pb2.FieldDescriptorProto


def declare():
    file = descriptor_pb2.FileDescriptorProto(name='example.proto', package='tensorflow', syntax='proto3')

    def message(name):
        return file.message_type.add(name=name)

    def field(of, name, number, type_name, label=F.LABEL_OPTIONAL):
        return of.field.add(name=name, number=number, label=label, type=F.TYPE_MESSAGE, type_name='.tensorflow.' + type_name)

    def map_of(name, of, value):
        of_map = message(name)
        entry = ''.join(word.capitalize() for word in of.split('_')) + 'Entry'
        field(of_map, of, 1, f'{name}.{entry}', F.LABEL_REPEATED)
        nested = of_map.nested_type.add(name=entry)
        nested.options.map_entry = True
        nested.field.add(name='key', number=1, label=F.LABEL_OPTIONAL, type=F.TYPE_STRING)
        field(nested, 'value', 2, value)

    for name, kind in (('BytesList', F.TYPE_BYTES), ('FloatList', F.TYPE_FLOAT), ('Int64List', F.TYPE_INT64)):
        message(name).field.add(name='value', number=1, label=F.LABEL_REPEATED, type=kind)
    feature = message('Feature')
    feature.oneof_decl.add(name='kind')
    for number, (name, of) in enumerate((('bytes_list', 'BytesList'), ('float_list', 'FloatList'), ('int64_list', 'Int64List'))):
        field(feature, name, number + 1, of).oneof_index = 0
    map_of('Features', 'feature', 'Feature')
    field(message('FeatureList'), 'feature', 1, 'Feature', F.LABEL_REPEATED)
    map_of('FeatureLists', 'feature_list', 'FeatureList')
    field(message('Example'), 'features', 1, 'Features')
    sequence = message('SequenceExample')
    field(sequence, 'context', 1, 'Features')
    field(sequence, 'feature_lists', 2, 'FeatureLists')
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName('tensorflow.' + name))


message_class = declare()


def fill(feature, values):
    """Sets values of one type; None sets an empty list of bytes."""
    if values is None:
        feature.bytes_list.SetInParent()
    elif isinstance(values[0], bytes):
        feature.bytes_list.value.extend(values)
    elif isinstance(values[0], float):
        feature.float_list.value.extend(values)
    else:
        feature.int64_list.value.extend(values)


def features(number):
    found = {
        'image/encoded': [bytes((number * k) % 256 for k in range(number % 50))],
        'image/label': [number - 20],
        'score': [number / 4],
    }
    if number % 3:
        found['boxes'] = [number / 8 + k for k in range(number % 5)] or None
    if number % 4 == 0:
        found['tags'] = ['tag {}'.format(k).encode() for k in range(number % 3)] or None
    if number % 10 == 9:
        del found['score']
    return found


def example(number):
    record = message_class('Example')()
    for name, values in features(number).items():
        fill(record.features.feature[name], values)
    return record, {'features': features(number)}


def sequence_example(number):
    record = message_class('SequenceExample')()
    context = {'user': [number], 'name': [b'name %d' % number]}
    lists = {'clicks': [[k * number] for k in range(number % 4)], 'words': [[b'w'] * (k % 3) or None for k in range(number % 5)]}
    if number % 6 == 5:
        del lists['words']
    for name, values in context.items():
        fill(record.context.feature[name], values)
    for name, steps in lists.items():
        record.feature_lists.feature_list[name].SetInParent()
        for values in steps:
            fill(record.feature_lists.feature_list[name].feature.add(), values)
    return record, {'features': context, 'feature_lists': lists}


def as_json(value):
    if isinstance(value, bytes):
        return base64.b16encode(value).decode().lower()
    return [] if value is None else value


for name, make in (('example', example), ('sequence_example', sequence_example)):
    records, values = zip(*(make(number) for number in range(40)))
    with open(f'{name}.recs', 'wb') as file:
        for record in records:
            data = record.SerializeToString(deterministic=True)
            file.write(struct.pack('<I', len(data)) + data)
    with open(f'{name}.json', 'w') as file:
        def plain(value):
            if isinstance(value, dict):
                return {key: plain(value) for key, value in value.items()}
            if isinstance(value, list):
                return [plain(value) for value in value]
            return as_json(value)

        file.write('[\n' + ',\n'.join(json.dumps(plain(value)) for value in values) + '\n]\n')
