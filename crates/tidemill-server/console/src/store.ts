/** What the browser keeps for this page. Browsers may forbid it or have no room: then nothing is kept. */

export const store = {
  read(key: string): string | null {
    try {
      return localStorage.getItem(PREFIX + key);
    } catch {
      return null;
    }
  },

  write(key: string, value: string | null): void {
    try {
      if (value === null) localStorage.removeItem(PREFIX + key);
      else localStorage.setItem(PREFIX + key, value);
    } catch {
      // The page works without.
    }
  },
};

const PREFIX = "tidemill.";
