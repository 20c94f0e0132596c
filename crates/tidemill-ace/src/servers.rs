//! Servers on the network: this library reaches none.

use tidemill_ads::ErrorCode;

use crate::call::{call, refuse};
use crate::connection::table_of_its_own;
use crate::constants::{ADS_FS_CONNECT_ALL, ADS_FS_MULTICAST_ONLY};
use crate::handle::Handle;
use crate::pointers::Out;

/// Lists the servers that can be connected to, in a table of its own connection that is closed with it (SAP's help, "AdsFindServers").
/// None can be: the network is not asked, and the local server is none of it. So the table is empty.
#[unsafe(no_mangle)]
pub extern "C" fn AdsFindServers(options: u32, answer: Out<Handle>) -> u32 {
    call(|| {
        if options & !(ADS_FS_MULTICAST_ONLY | ADS_FS_CONNECT_ALL) != 0 {
            let what = format!("{options:#x} is no way to look for servers");
            return refuse(ErrorCode::InvalidOption, what);
        }
        answer.set(0)?;
        table_of_its_own("servers", COLUMNS, answer, |_, _| Ok(()))
    })
}

/// The columns that SAP's help names. Their types follow from what it says of them.
const COLUMNS: &str = "IP Addr,Character,45;Port,Integer;Multicast Addr,Character,45;Server Name,Character,255;\
    Serial Number,Character,20;Version,Character,40;Owner,Character,100;Install Date,Character,20;User Count,Integer;\
    Server Type,Integer;Up Time,Character,20;Operations,Integer;More Info,Memo";
