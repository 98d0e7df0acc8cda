// Runs before the server listens: creates the built-in roles, and applies the configuration file.
import { unknownBrandApplications } from '../applications/brand/unknown-applications.ts';
import { ConfigError } from '../base/config/config-error.ts';
import { ignoredTexts } from '../base/texts/overrides.ts';
import { formatFault } from '../config-file/file.ts';
import { warnOfUnusedPassword } from '../config-file/first-admin.ts';
import { type ConfigurationFile, readValidFile } from '../config-file/read-file.ts';
import type { Services } from './services.ts';

/** Throws ConfigError with one line for each fault of the configuration file. */
export async function prepareData(services: Services): Promise<void> {
  await services.roles.ensureBuiltInRoles();
  const file = await applyConfigurationFile(services);
  // The plan has warned of those in the file.
  if (!file?.declared.settings.brand_applications) await warnOfUnknownBrandApplications(services);
  await warnOfUnusedPassword(services);
  const { texts, rate_limits: limitsRates } = services.settings.latest();
  const ignored = ignoredTexts(texts);
  if (ignored.length > 0)
    services.logger.warn(
      { texts: ignored },
      'settings.texts: these texts are ignored, because this version cannot use them',
    );
  if (!limitsRates) services.logger.warn('RATE LIMITS ARE OFF (settings.rate_limits: false): only for load tests');
}

/** Returns the file; undefined where there is none, or where it was applied before and nothing has changed since. */
async function applyConfigurationFile({
  config: { configFile: path },
  configFile,
  logger,
  settings,
}: Services): Promise<ConfigurationFile | undefined> {
  if (path === undefined) return undefined;
  if (await configFile.isApplied(path)) {
    await settings.reload();
    logger.info({ file: path, changes: 0, isUnchanged: true }, 'configuration file applied');
    return undefined;
  }
  const file = await readValidFile(path);
  const result = await configFile.apply(file);
  if (!result.ok) throw new ConfigError(result.faults.map((fault) => formatFault(file.path, fault)));
  for (const warning of result.plan.warnings) logger.warn(warning);
  logger.info({ file: file.path, changes: result.plan.steps.length }, 'configuration file applied');
  return file;
}

async function warnOfUnknownBrandApplications({ applications, logger, settings }: Services): Promise<void> {
  const brands = settings.latest().brand_applications;
  const found = await Promise.all(Object.keys(brands).map((id) => applications.find(id)));
  const known = new Set(found.map((application) => application?.clientId));
  const isKnown = (id: string) => known.has(id) || applications.isReserved(id);
  for (const warning of unknownBrandApplications(brands, isKnown)) logger.warn(warning);
}
