//! Functions that do nothing yet: each answers [`AE_FUNCTION_NOT_AVAILABLE`], so that a program loads and learns at the
//! call what it cannot have; the last error tells the reason. None pretends success.
//!
//! To write a function, delete its line here and put the shim into the file of its kind. `tests/exports.rs` then says
//! what else names it.
//!
//! None of these looks at its arguments, so they are declared without parameters: on the C ABIs of Unix the caller puts
//! arguments where it likes and takes them away itself, and a function that takes none leaves them alone.
//!
//! What they would do is not here; `docs/ace/functions.md` lists them with every other function.
//!
//! [`AE_FUNCTION_NOT_AVAILABLE`]: crate::constants::AE_FUNCTION_NOT_AVAILABLE

#![expect(
    unsafe_code,
    reason = "a symbol that C programs find by its name must have that very name"
)]
#![allow(non_snake_case, reason = "the names are those of the Advantage Client Engine")]

use tidemill_ads::ErrorCode;

use crate::call::{call, refuse};

/// A function that does nothing yet.
#[derive(Debug, Clone, Copy)]
pub struct Unavailable {
    /// Its name, which is that of its symbol.
    pub name: &'static str,
    /// Why it does nothing.
    pub why: Why,
    /// The function.
    pub function: extern "C" fn() -> u32,
}

/// Why a function does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// What of dictionaries is not served: bringing a new version of a dictionary into another, and those of another server.
    Dictionary,
    /// Tables are not encrypted, and encrypted ones are not read.
    Encryption,
    /// It is exported for SAP's own components.
    Internal,
    /// It is exported, and nothing more is known of it.
    Unpublished,
    /// It handles things that only Windows has.
    Windows,
}

impl Why {
    /// The reason in a few words, as `functions.csv` has it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Dictionary => "this part of data dictionaries is not served",
            Self::Encryption => "encryption is not served",
            Self::Internal => "SAP's own components use it; nothing public says what it does",
            Self::Unpublished => "no public source gives its parameters",
            Self::Windows => "Windows only",
        }
    }
}

fn answer(name: &str, why: Why) -> u32 {
    call(|| {
        refuse(
            ErrorCode::NotImplemented,
            format!("{name} is not available: {}", why.text()),
        )
    })
}

/// Makes the functions, and the list of them.
macro_rules! unavailable {
    ($($why:ident { $($name:ident)* })*) => {
        $($(
            #[doc = concat!("Is not available ([`Why::", stringify!($why), "`]).")]
            // SAFETY: no other function of the library has the name, and C reaches this one by it.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> u32 {
                answer(stringify!($name), Why::$why)
            }
        )*)*

        /// Every function that does nothing yet.
        pub const UNAVAILABLE: &[Unavailable] = &[$($(
            Unavailable { name: stringify!($name), why: Why::$why, function: $name },
        )*)*];
    };
}

unavailable! {
    Dictionary {
        AdsDDCreateASA
        AdsDDDeployDatabase
    }

    Encryption {
        AdsStmtEnableEncryption
        AdsEnableEncryption
        ObsAdsDecryptBuffer
        ObsAdsEncryptBuffer
    }

    Internal {
        AdsAddToAOF
        AdsCreateCriticalSection
        AdsDDExecuteProcedure
        AdsDDGetProcInterfaceVersion
        AdsDDSetActiveDictionary
        AdsDDSetObjectAccessRights
        AdsEvalExpr
        AdsExtractPathPart
        AdsFreeExpr
        AdsGetKeyFilter
        AdsGetPreparedFields
        AdsMergeAOF
        AdsMgDumpInternalTables
        AdsPerformRI
        AdsPrepareSQLNow
        AdsPrepareSQLNowW
        AdsReadRecordNumbers
        AdsReadRecords
        AdsRegisterUDF
        AdsReleaseObject
        AdsSetCollationSequence
        AdsSetupRI
        AdsWaitForObject
    }

    Unpublished {
        AdsCloseFile
        AdsDDCreateASA101
        AdsDDGetTableOpenOptions
        AdsFreeTokenBuffer
        AdsGetConnectionHandle
        AdsGetDeleteStatementW
        AdsGetFieldCreationString
        AdsGetFilePosition
        AdsGetIndexInfo
        AdsGetInsertStatementW
        AdsGetLibraryVersion
        AdsGetMergeStatementW
        AdsGetRILookupInfo
        AdsGetRecordPointer
        AdsGetSelectStatementW
        AdsGetTableCreationString
        AdsGetUpdateStatementW
        AdsInitTokenBuffer
        AdsMakeNameUnique
        AdsOpenFileRaw
        AdsParseExpr
        AdsParseExpr100
        AdsPullTrigger
        AdsReadFile
        AdsSeekInFile
        AdsStmtGetCursorHandle
        AdsStmtGetNumParams
    }

    Windows {
        AdsImageToClipboard
        AdsImageToHBitmap
        AdsStmtSetOptimization
        AdsWriteMiniDump
    }
}
