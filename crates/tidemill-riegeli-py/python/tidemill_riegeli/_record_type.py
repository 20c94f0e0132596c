"""The protobuf type of the records in the metadata of a file.

Needs the `protobuf` package where it makes a message class, and nothing where it takes one apart.
"""


def set_record_type(metadata, message_type):
    """Says in `metadata` that the records are messages of a class.

    Args:
      metadata: a RecordsMetadata, of this package or a protobuf message.
      message_type: a generated message class.
    """
    descriptor = message_type.DESCRIPTOR
    files = []
    _collect(descriptor.file, files, set())
    metadata.record_type_name = descriptor.full_name
    if hasattr(metadata, 'DESCRIPTOR'):
        del metadata.file_descriptor[:]
        for serialized in files:
            metadata.file_descriptor.add().ParseFromString(serialized)
    else:
        metadata.file_descriptor = files


def get_record_type(metadata):
    """Returns the message class of the records, None if the metadata do not have it.

    Needs the `protobuf` package.

    Args:
      metadata: a RecordsMetadata, of this package or a protobuf message.
    """
    if not metadata.record_type_name or not metadata.file_descriptor:
        return None
    from google.protobuf import descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    for file in metadata.file_descriptor:
        pool.AddSerializedFile(file if isinstance(file, bytes) else file.SerializeToString())
    descriptor = pool.FindMessageTypeByName(metadata.record_type_name)
    return message_factory.GetMessageClass(descriptor)


def _collect(file, files, seen):
    """Appends a file descriptor behind those that it depends on."""
    if file.name in seen:
        return
    seen.add(file.name)
    for dependency in file.dependencies:
        _collect(dependency, files, seen)
    files.append(file.serialized_pb)
