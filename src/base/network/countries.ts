// The country of an address, by a file in the format MaxMind DB that the operator brings (COUNTRY_DATABASE). It says where a sign-in came from
// and decides nothing, so a file that is missing or broken is a line in the log.

import { readFileSync, statSync } from 'node:fs';
import { type CountryResponse, Reader } from 'mmdb-lib';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';

const LOOK_AGAIN_MS = 10_000;
/** Several times the largest file with cities. */
const MOST_BYTES = 512 * 1024 * 1024;

export interface CountryDatabase {
  /** Such as `GeoLite2-Country`. */
  type: string;
  builtAt: Date;
  /** The code by ISO 3166-1, such as `CH`; undefined where the file has none. */
  countryOf(address: string): string | undefined;
}

/** Reads the file into memory. Throws an Error that says what is wrong with it. */
export function readCountryDatabase(file: string): CountryDatabase {
  if (statSync(file).size > MOST_BYTES) throw new Error(`is larger than ${MOST_BYTES} bytes`);
  const reader = readerOf(readFileSync(file));
  const { databaseType: type, buildEpoch: builtAt } = reader.metadata;
  if (!/country|city|enterprise/i.test(type)) throw new Error(`has no countries: its type is ${type}`);
  return {
    type,
    builtAt,
    countryOf(address) {
      const code = reader.get(address)?.country?.iso_code;
      return typeof code === 'string' && /^[A-Z]{2}$/.test(code) ? code : undefined;
    },
  };
}

function readerOf(content: Buffer): Reader<CountryResponse> {
  try {
    return new Reader(content);
  } catch (cause) {
    throw new Error(`is no MaxMind DB file: ${messageOf(cause)}`, { cause });
  }
}

export type Countries = ReturnType<typeof createCountries>;

/** @param file of the operator; undefined: no address has a country */
export function createCountries(file: string | undefined, { logger, now }: { logger: Logger; now: Clock }) {
  let database: CountryDatabase | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let version = '';

  /** Reads a file that was replaced; after one that cannot be read, the one before it still answers. */
  function refresh(path: string): void {
    const at = now().getTime();
    if (Math.abs(at - lookedAt) < LOOK_AGAIN_MS) return;
    lookedAt = at;
    const found = statSync(path, { throwIfNoEntry: false });
    const current = found ? `${found.ino} ${found.size} ${found.mtimeMs}` : 'missing';
    if (current === version) return;
    version = current;
    try {
      database = readCountryDatabase(path);
      logger.info({ file: path, type: database.type, built: database.builtAt }, 'the country database was read');
    } catch (err) {
      logger.warn({ file: path, reason: messageOf(err) }, 'the country database cannot be read');
    }
  }

  return {
    /** The country of the address, by its code; undefined without a file, and for an address that it does not have. Never throws. */
    of(address: string | null | undefined): string | undefined {
      if (file === undefined || !address) return undefined;
      try {
        refresh(file);
        return database?.countryOf(address);
      } catch {
        // A broken part of the file, or no address.
        return undefined;
      }
    },
  };
}
