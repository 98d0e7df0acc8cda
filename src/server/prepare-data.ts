// Runs before the server listens: creates the built-in roles, and applies the configuration file.
import { unknownBrandApplications } from '../applications/brand/unknown-applications.ts';
import { ConfigError } from '../base/config/config-error.ts';
import { ignoredTexts } from '../base/texts/overrides.ts';
import { formatFault } from '../config-file/file.ts';
import { warnOfUnusedPassword } from '../config-file/first-admin.ts';
import { readValidFile } from '../config-file/read-file.ts';
import type { Services } from './services.ts';

/** Throws ConfigError with one line for each fault of the configuration file. */
export async function prepareData(services: Services): Promise<void> {
  const { applications, config, logger, configFile, roles, settings } = services;
  await roles.ensureBuiltInRoles();
  const isApplied = config.configFile !== undefined && (await configFile.isApplied(config.configFile));
  const file = config.configFile === undefined || isApplied ? undefined : await readValidFile(config.configFile);
  if (isApplied) {
    await settings.reload();
    logger.info({ file: config.configFile, changes: 0, isUnchanged: true }, 'configuration file applied');
  } else if (file) {
    const result = await configFile.apply(file);
    if (!result.ok) throw new ConfigError(result.faults.map((fault) => formatFault(file.path, fault)));
    for (const warning of result.plan.warnings) logger.warn(warning);
    logger.info({ file: file.path, changes: result.plan.steps.length }, 'configuration file applied');
  }
  // The plan has warned of those in the file.
  if (!file?.declared.settings.brand_applications) {
    const brands = settings.latest().brand_applications;
    const found = await Promise.all(Object.keys(brands).map((id) => applications.find(id)));
    const known = new Set(found.map((application) => application?.clientId));
    const isKnown = (id: string) => known.has(id) || applications.isReserved(id);
    for (const warning of unknownBrandApplications(brands, isKnown)) logger.warn(warning);
  }
  await warnOfUnusedPassword(services);
  const ignored = ignoredTexts(settings.latest().texts);
  if (ignored.length > 0)
    logger.warn({ texts: ignored }, 'settings.texts: these texts are ignored, because this version cannot use them');
  if (!settings.latest().rate_limits)
    logger.warn('RATE LIMITS ARE OFF (settings.rate_limits: false): only for load tests');
}
