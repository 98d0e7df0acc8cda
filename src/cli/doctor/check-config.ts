// doctor: checks the environment, the folders and files it names, and the configuration file.

import { existsSync, statSync } from 'node:fs';
import { isLoopback } from '../../base/config/addresses.ts';
import { ConfigError } from '../../base/config/config-error.ts';
import type { Config } from '../../base/config.ts';
import { readCountryDatabase } from '../../base/network/countries.ts';
import { messageOf } from '../../base/platform/errors.ts';
import { freeBytes, whyNotWritable } from '../../base/platform/folders.ts';
import { plural } from '../../base/platform/plural.ts';
import { readValidFile } from '../../config-file/read-file.ts';
import { type Finding, failure, ok, warning } from './findings.ts';

const MIB = 1024 * 1024;
const NO_SPACE = 50 * MIB;

export async function checkConfig(config: Config): Promise<Finding[]> {
  return [
    ...checkIssuer(config),
    checkProxy(config),
    checkSecret(config),
    checkSpace(config),
    ...checkCountries(config),
    ...(await checkFile(config)),
  ];
}

function checkIssuer({ issuer, secure, host }: Config): Finding[] {
  if (secure) return [ok('issuer', issuer)];
  const findings = [warning('issuer', `${issuer} is for this machine only`, 'Set ISSUER to the public https URL.')];
  if (!isLoopback(host)) {
    findings.push(
      warning(
        'listen',
        `HOST ${host} accepts connections from other machines, but the issuer is a loopback address`,
        'Set ISSUER, or HOST=127.0.0.1.',
      ),
    );
  }
  return findings;
}

// Gatehouse speaks plain HTTP: with an https issuer a proxy terminates TLS, and the client addresses are the proxy's.
function checkProxy({ secure, trustProxy, issuer }: Config): Finding {
  if (!secure || trustProxy > 0) return ok('proxy', trustProxy > 0 ? `${trustProxy} trusted` : 'none');
  return failure(
    'proxy',
    `${issuer} needs a TLS proxy in front, but TRUST_PROXY is off: every client appears to be the proxy`,
    'Set TRUST_PROXY to the number of proxies in front, usually 1.',
  );
}

function checkSecret({ secretFile, secrets, warnings }: Config): Finding {
  const count = secrets.length === 1 ? '' : `, ${plural(secrets.length, 'value')}, the first one encrypts`;
  if (secretFile === undefined) return ok('secret', `from the environment${count}`);
  if (!existsSync(secretFile))
    return warning('secret', `${secretFile} doesn't exist yet`, 'The first start of a new server creates it.');
  const widened = warnings.find((text) => text.includes(secretFile));
  if (widened !== undefined) return warning('secret', widened);
  const mode = (statSync(secretFile).mode & 0o777).toString(8).padStart(4, '0');
  return ok('secret', `${secretFile}, mode ${mode}${count}; keep a copy apart from the database`);
}

function checkSpace({ dataDir, minFreeMb }: Config): Finding {
  const advice = 'Set DATA_DIR to a folder that this user can write to.';
  const reason = whyNotWritable(dataDir); // made at the first start
  if (reason) return failure('disk', reason, advice);
  try {
    const free = freeBytes(dataDir);
    const message = `${Math.floor(free / MIB)} MB free in ${dataDir}`;
    if (free >= minFreeMb * MIB) return ok('disk', message);
    const make = free < NO_SPACE ? failure : warning;
    return make('disk', message, 'Free disk space: a full disk stops every sign-in.');
  } catch (error) {
    return failure('disk', `${dataDir}: ${messageOf(error)}`, advice);
  }
}

function checkCountries({ countryDatabase: file }: Config): Finding[] {
  if (file === undefined) return [];
  try {
    const { type, builtAt } = readCountryDatabase(file);
    return [ok('countries', `${file}, ${type} of ${builtAt.toISOString().slice(0, 10)}`)];
  } catch (error) {
    const advice = 'Set COUNTRY_DATABASE to a MaxMind DB file with countries: without it, no sign-in has a country.';
    return [failure('countries', `${file}: ${messageOf(error)}`, advice)];
  }
}

async function checkFile({ configFile }: Config): Promise<Finding[]> {
  if (configFile === undefined) return [ok('file', 'no configuration file')];
  try {
    await readValidFile(configFile);
    return [ok('file', configFile)];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((line) => failure('file', line, "The server doesn't start with this file."));
  }
}
