//! Errors and their numbers.

use tidemill_trust::with_causes;
use tidemill_xbase as xbase;
use tidemill_xbase::index::IndexDialect;

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done, with the number that clients know it by. No larger than what two registers hold, because
/// every call of a work area gives a result back through several hands.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine below could not.
    #[error(transparent)]
    Engine(Box<xbase::Error>),
    /// A statement was refused or failed.
    #[error(transparent)]
    Statement(#[from] crate::sql::Error),
    /// It is refused here.
    #[error("{}", .0.what)]
    Refused(Box<Refusal>),
}

const _: () = assert!(size_of::<Result<()>>() <= 2 * size_of::<usize>());

/// What is refused before the engine is asked.
#[derive(Debug)]
pub struct Refusal {
    /// The number.
    pub code: ErrorCode,
    /// What was asked for and why it is not done.
    pub what: String,
}

impl From<xbase::Error> for Error {
    #[cold]
    fn from(error: xbase::Error) -> Self {
        Self::Engine(Box::new(error))
    }
}

impl Error {
    /// A refusal with its number.
    #[cold]
    pub fn new(code: ErrorCode, what: impl Into<String>) -> Self {
        let what = what.into();
        Self::Refused(Box::new(Refusal { code, what }))
    }

    /// An error of a new order, which has a number of its own where two records have one key.
    pub(crate) fn of_making(error: Self) -> Self {
        match error {
            Self::Engine(source) if code_of(&source) == ErrorCode::DuplicateKey => {
                Self::new(ErrorCode::CandidateNotMade, with_causes(&*source))
            }
            other => other,
        }
    }

    /// Whether the system lets nobody like us write the file.
    pub(crate) fn is_no_permission(&self) -> bool {
        use std::io::ErrorKind as K;
        let is_refused = |kind| matches!(kind, K::PermissionDenied | K::ReadOnlyFilesystem);
        match self {
            Self::Engine(error) => matches!(&**error, xbase::Error::Io { source, .. } if is_refused(source.kind())),
            _ => false,
        }
    }

    /// An error of an index file that is opened. Its expressions were understood when it was made: one that cannot be read, or that names
    /// other fields, is damage. A function that is not known here is another program's.
    pub(crate) fn of_opening(error: xbase::Error) -> Self {
        let is_damage = match &error {
            xbase::Error::Order { source, .. } => match &**source {
                xbase::Error::Expression(bad) => bad.expected != "the name of a function",
                _ => false,
            },
            _ => false,
        };
        match is_damage {
            true => Self::new(ErrorCode::DamagedIndex, with_causes(&error)),
            false => error.into(),
        }
    }

    /// Whether an index file is damaged, or has not followed its table: it has to be rebuilt.
    pub(crate) fn is_of_index(&self) -> bool {
        matches!(
            self.code(),
            ErrorCode::DamagedIndex | ErrorCode::DamagedNtx | ErrorCode::CorruptIndex
        )
    }

    /// The rule of a table that refuses a record, if that is what the error is.
    pub fn constraint(&self) -> Option<ErrorCode> {
        use ErrorCode as C;
        const CONSTRAINTS: [ErrorCode; 11] = [
            C::ConstraintValidation,
            C::NoPrimaryKeyExists,
            C::ColumnCannotBeNull,
            C::MinConstraintViolation,
            C::MaxConstraintViolation,
            C::RecordConstraintViolation,
            C::RiRestrict,
            C::RiCascade,
            C::NotNullable,
            C::KeyCannotBeNull,
            C::DuplicateKey,
        ];
        let code = match self {
            Self::Statement(statement) => statement.native_code(),
            other => other.code().number().into(),
        };
        CONSTRAINTS
            .into_iter()
            .find(|constraint| code == i64::from(constraint.number()))
    }

    /// The number that clients know it by.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Refused(refusal) => refusal.code,
            Self::Engine(e) => code_of(e),
            Self::Statement(error) if *error.kind() == crate::sql::Kind::Stopped => ErrorCode::StatementStopped,
            Self::Statement(_) => ErrorCode::Statement,
        }
    }
}

/// The numbers of the Advantage Client Engine that this crate gives. Those from 5001 on are ACE's own (`ace.h` of the SDK),
/// those from 7000 on the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each is the AE_ constant of its name")]
pub enum ErrorCode {
    AppendLockFailed = 1024,
    InternalError = 5000,
    DataTooLong = 5003,
    FileNotFound = 5004,
    InsufficientBuffer = 5005,
    InvalidBookmark = 5006,
    InvalidCallback = 5007,
    InvalidDateFormat = 5009,
    InvalidDecimals = 5010,
    InvalidExpression = 5011,
    InvalidFieldDefinition = 5012,
    InvalidFilterOption = 5013,
    InvalidIndexHandle = 5014,
    InvalidIndexName = 5015,
    InvalidIndexOrderName = 5016,
    InvalidIndexType = 5017,
    InvalidHandle = 5018,
    InvalidOption = 5019,
    InvalidPath = 5020,
    InvalidPointer = 5021,
    InvalidRecordNumber = 5022,
    InvalidTableHandle = 5023,
    InvalidConnectionHandle = 5024,
    InvalidTableType = 5025,
    InvalidFieldNumber = 5030,
    InvalidKeyLength = 5031,
    InvalidFieldName = 5032,
    NoDriveConnection = 5033,
    LockFailed = 5035,
    NoConnection = 5036,
    NoFilter = 5037,
    NoScope = 5038,
    NotFound = 5041,
    NotImplemented = 5042,
    TransactionOutOfSequence = 5047,
    UnsupportedCollation = 5049,
    PermissionDenied = 5054,
    InvalidMemoBlockSize = 5058,
    NoFileFound = 5059,
    RecordNotLocked = 5062,
    IllegalCommandDuringTransaction = 5063,
    TableNotShared = 5064,
    IndexAlreadyOpen = 5065,
    InvalidFieldType = 5066,
    TableNotExclusive = 5067,
    NoCurrentRecord = 5068,
    InvalidDataType = 5070,
    DataTruncated = 5071,
    TableReadOnly = 5072,
    NoErrorMessage = 5074,
    InvalidRecordLength = 5073,
    IndexExists = 5076,
    CyclicRelation = 5077,
    InvalidRelation = 5078,
    InvalidDay = 5079,
    InvalidMonth = 5080,
    CorruptTable = 5081,
    InvalidBinaryOffset = 5082,
    BinaryFileError = 5083,
    TableNotLocked = 5087,
    CorruptIndex = 5088,
    AutoOpenIndex = 5089,
    InvalidDate = 5095,
    EncryptionNotEnabled = 5096,
    InvalidPassword = 5097,
    TableEncrypted = 5098,
    InvalidValue = 5101,
    InvalidContinue = 5102,
    InvalidStatementHandle = 5106,
    NotPrepared = 5108,
    InvalidParameterNumber = 5110,
    InvalidParameterName = 5111,
    InvalidConstrainType = 5118,
    ObsoleteFunction = 5120,
    InvalidDictionaryHandle = 5125,
    InvalidPropertyId = 5126,
    InvalidProperty = 5127,
    DictionaryExists = 5128,
    InvalidFindHandle = 5129,
    DdRequestNotCompleted = 5130,
    InvalidObjectName = 5132,
    InvalidPropertyLength = 5133,
    InvalidKeyOptions = 5134,
    ConstraintValidation = 5135,
    InvalidObjectType = 5136,
    NoObjectFound = 5137,
    PropertyNotSet = 5138,
    NoPrimaryKeyExists = 5139,
    RiRestrict = 5141,
    RiCascade = 5142,
    RiFailed = 5143,
    RiRuleExists = 5146,
    ColumnCannotBeNull = 5147,
    MinConstraintViolation = 5148,
    MaxConstraintViolation = 5149,
    RecordConstraintViolation = 5150,
    RestructureFailed = 5152,
    StoredProcedureFailed = 5154,
    InvalidDictionaryFile = 5155,
    NotMember = 5156,
    AlreadyMember = 5157,
    InvalidObjectPermission = 5158,
    InvalidConstraint = 5160,
    InvalidLinkNumber = 5173,
    LinkActivationFailed = 5174,
    TriggerFailed = 5177,
    ValueOverflow = 5179,
    TriggerNotMade = 5181,
    NoMemoFile = 5194,
    UnableToDisableTriggers = 5196,
    UnableToEnableTriggers = 5197,
    NotNullable = 5205,
    KeyCannotBeNull = 5208,
    UnicodeConversion = 5211,
    /// The client's for a call from within a call.
    CommunicationBusy = 6619,
    /// The server's for an index that was stopped while it was made, or the packing of a table.
    IndexCreationAborted = 7089,
    /// The server's for a copy that was stopped.
    CopyAborted = 7090,
    /// The server's for a file that others keep from being opened.
    FileInUse = 7008,
    /// The server's for what the operating system refused.
    FileError = 7004,
    /// The server's for a damaged NTX file.
    DamagedNtx = 7015,
    /// The server's for a damaged CDX file.
    DamagedIndex = 7017,
    /// The server's for a user that is not let in.
    NotAuthenticated = 7078,
    /// The server's for a table that the user may not read.
    NoReadPermission = 7079,
    /// The server's for a table that the user may not change.
    NoWriteRights = 7080,
    /// The server's for something else that the user may not do.
    PermissionNotGranted = 7087,
    /// The server's for a record whose key another record has, in a candidate index.
    DuplicateKey = 7057,
    /// The server's for a candidate index that is not made, because two records have one key.
    CandidateNotMade = 7059,
    /// The server's for `CONTAINS( *, … )` over a table that has no full-text index.
    NoFullTextIndex = 7102,
    /// The server's for a trigger of a view that is a cursor over its table.
    TriggerOnLiveView = 7133,
    /// The server's for a change of a view that none of its triggers is for.
    NoTriggerForEvent = 7135,
    /// A statement was refused or failed; the text of the error says more.
    Statement = 7200,
    /// A statement was stopped, by the program or because its time was over.
    StatementStopped = 7209,
}

impl ErrorCode {
    /// The number.
    pub fn number(self) -> u32 {
        self as u32
    }
}

pub(crate) fn code_of(error: &xbase::Error) -> ErrorCode {
    use xbase::{Error as E, LockSubject, RuleKind};
    match error {
        E::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => ErrorCode::FileNotFound,
        E::Io { .. } | E::NotRegular { .. } | E::Exists { .. } => ErrorCode::FileError,
        // The files are sound; what is to be done says the text.
        E::Pending(_) | E::RefusedLog(_) | E::Incomplete(_) | E::Unknown(_) => ErrorCode::FileError,
        E::Corrupt(corrupt) => match IndexDialect::from_path(&corrupt.path) {
            Some(IndexDialect::Ntx) => ErrorCode::DamagedNtx,
            Some(_) => ErrorCode::DamagedIndex,
            None => ErrorCode::CorruptTable,
        },
        E::Recovery(_) => ErrorCode::CorruptTable,
        E::StaleIndex { .. } => ErrorCode::CorruptIndex,
        E::UnknownCollation => ErrorCode::UnsupportedCollation,
        E::NoKeys => ErrorCode::InvalidTableType,
        E::UnknownKeys => ErrorCode::NotImplemented,
        E::Value(_) | E::Limit { .. } => ErrorCode::DataTooLong,
        E::Expression(_) => ErrorCode::InvalidExpression,
        E::DuplicateKey { .. } => ErrorCode::DuplicateKey,
        E::NullKey { .. } => ErrorCode::KeyCannotBeNull,
        E::Rule(broken) => match broken.rule {
            RuleKind::Required | RuleKind::Default(_) => ErrorCode::ColumnCannotBeNull,
            RuleKind::Minimum(_) => ErrorCode::MinConstraintViolation,
            RuleKind::Maximum(_) => ErrorCode::MaxConstraintViolation,
            RuleKind::Parent(_) => ErrorCode::NoPrimaryKeyExists,
            RuleKind::Restricted(_) => ErrorCode::RiRestrict,
            RuleKind::Cascade(..) => ErrorCode::RiCascade,
            RuleKind::Trigger(_) => ErrorCode::TriggerFailed,
            _ => ErrorCode::RecordConstraintViolation,
        },
        E::Order { source, .. } => match code_of(source) {
            ErrorCode::InternalError => ErrorCode::InvalidExpression,
            code => code,
        },
        E::Cancelled => ErrorCode::IndexCreationAborted,
        E::MissingMemo { .. } => ErrorCode::NoMemoFile,
        E::Unsupported { .. } => ErrorCode::InvalidTableType,
        E::Locked(refused) => match refused.subject {
            LockSubject::Open => ErrorCode::FileInUse,
            LockSubject::Header => ErrorCode::AppendLockFailed,
            _ => ErrorCode::LockFailed,
        },
        _ => ErrorCode::InternalError,
    }
}
