// `gatehouse doctor`: checks everything that a sign-in depends on and says what to fix. It changes nothing.
import { ConfigError } from '../../base/config/config-error.ts';
import { loadConfig } from '../../base/config.ts';
import { systemClock } from '../../base/platform/clock.ts';
import { createLogger } from '../../base/platform/logger.ts';
import { type Commands, jsonOption } from '../command.ts';
import { type Finding, failure, findingLines, ok } from './findings.ts';

export const doctorCommands: Commands = {
  doctor: {
    summary: 'check issuer, TLS, database, email, keys and clock, and say what to fix',
    details: "The exit code is 1 if a check failed. Warnings don't count.",
    options: jsonOption,
    async run() {
      const json = await runChecks();
      return { json, text: findingLines(json), code: json.some(({ status }) => status === 'failure') ? 1 : 0 };
    },
  },
};

async function runChecks(): Promise<Finding[]> {
  try {
    const config = loadConfig(undefined, { readOnly: true });
    const logger = createLogger({ level: 'silent', format: 'json' });
    const [{ checkConfig }, { checkDatabase, storedSettings }, { checkMail, checkPublicAddress }] = await Promise.all([
      import('./check-config.ts'),
      import('./check-database.ts'),
      import('./check-network.ts'),
    ]);
    const needs = { config, logger, now: systemClock };
    const groups = await Promise.all([
      checkConfig(config),
      checkPublicAddress(config, systemClock),
      checkDatabase(needs),
      storedSettings(needs).then((settings) => checkMail(config, settings)),
    ]);
    return [ok('environment', `Node ${process.versions.node}`), ...groups.flat()];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((fault) => failure('environment', fault, "The server doesn't start with this value."));
  }
}
