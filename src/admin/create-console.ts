// Builds the console: the pages of each noun under /admin, on the same actions that the admin API calls.
import type { AccountPageHelpers } from '../account/account-page-helpers.ts';
import type { Brand } from '../applications/brand/brand.ts';
import type { ImageStore } from '../applications/brand/image-store.ts';
import type { ApplicationPictures } from '../applications/pictures/pictures.ts';
import type { Config } from '../base/config.ts';
import type { StoredPages } from '../base/http/stored-pages.ts';
import type { Clock } from '../base/platform/clock.ts';
import type { Db } from '../base/storage/database.ts';
import type { Sql } from '../base/storage/statements.ts';
import type { Audit } from '../core/audit/audit.ts';
import type { Keyring } from '../core/keys/keyring.ts';
import { rotationPolicy } from '../core/keys/rotation.ts';
import type { SettingName } from '../core/settings/settings.ts';
import type { Tries } from '../federation/tries.ts';
import type { Accounts } from '../people/accounts/accounts.ts';
import type { AttributeSchema } from '../people/accounts/attributes.ts';
import { apiKeyRoutes } from './api-keys/console.ts';
import { applicationRoutes } from './applications/console.ts';
import type { ApplicationPreviews } from './applications/preview.ts';
import { createSignInCounts } from './applications/sign-in-counts.ts';
import { createApplicationUsage } from './applications/usage.ts';
import { auditRoutes } from './audit/console.ts';
import { brandRoutes } from './branding/console.ts';
import { connectionRoutes } from './connections/console.ts';
import { createFrame } from './console/frame.ts';
import { createNames } from './console/names.ts';
import type { Admin } from './create-admin.ts';
import { keyRoutes } from './keys/console.ts';
import { createKeyReadiness } from './keys/readiness.ts';
import { mailRoutes } from './mail/console.ts';
import { mailTemplateRoutes } from './mail/console-templates.ts';
import { overviewRoutes, type Warnings } from './overview/console.ts';
import type { FirstStepsDependencies } from './overview/first-steps.ts';
import { confirmationRoutes } from './proof/console.ts';
import { apiRoutes } from './resources/console.ts';
import { roleRoutes } from './roles/console.ts';
import { sessionRoutes } from './sessions/console.ts';
import { type SettingPagesDependencies, settingRoutes } from './settings/console.ts';
import { signUpCodeRoutes } from './sign-up-codes/console.ts';
import { suggestionRoutes } from './suggestions/console.ts';
import { createTypedUsers } from './suggestions/typed-user.ts';
import { userRoutes } from './users/console.ts';
import { importRoutes } from './users/console-import.ts';
import { createUserImport } from './users/import.ts';

export interface ConsoleDependencies {
  admin: Admin;
  issuer: string;
  db: Db;
  sql: Sql;
  now: Clock;
  storedPages: StoredPages;
  accounts: Accounts;
  audit: Audit;
  keyring: Keyring;
  page: AccountPageHelpers;
  /** Sign-ins at upstreams that write nothing. */
  tries: Tries;
  config: FirstStepsDependencies['config'] & Pick<Config, 'configFile'>;
  /** What the settings say about this server. */
  system: SettingPagesDependencies['system'];
  brand: Brand;
  brandImages: ImageStore;
  pictures: Pick<ApplicationPictures, 'addressesOf' | 'state'>;
  /** What an application would receive about a person. */
  preview: ApplicationPreviews;
  factors: FirstStepsDependencies['factors'];
  /** The accounts that are locked now. */
  lockedAccounts(): Promise<Warnings['locked']>;
  /** What the overview warns of. */
  warnings(): Promise<Warnings>;
  recentRejections(): Promise<number>;
}

export type Console = ReturnType<typeof createConsole>;

/** The routers of the console, and its frame and names for pages that live elsewhere (diagnostics, the test bench). */
export function createConsole(dependencies: ConsoleDependencies) {
  const { admin, issuer, db, sql, now, storedPages, accounts, audit, keyring, page, warnings, config, factors } =
    dependencies;
  const { preview, brand, brandImages, recentRejections } = dependencies;
  const { users, applications, connections, resources, roles, sessions, keys, mail, settings, statistics } = admin;
  const frame = createFrame({ page, authority: admin.authority, storedPages, recentRejections });
  const names = createNames({ db });
  const findUser = createTypedUsers({ accounts, users });
  const settingOf = async (name: SettingName) => (await settings.list()).find((one) => one.name === name)?.value;
  const attributeSchema = async () => ((await settingOf('user_attributes')) ?? {}) as AttributeSchema;
  const signIns = createSignInCounts({ db, sql, now });
  const identityProvider = () => ({
    issuer,
    name: brand.current()?.name ?? 'Gatehouse',
    certificate: keyring.samlCertificates().find(({ state }) => state === 'active')?.certificatePem ?? '',
  });
  return {
    frame,
    names,
    routers: [
      overviewRoutes({ frame, names, now, statistics, warnings, config, factors }),
      applicationRoutes({
        frame,
        names,
        applications,
        roles,
        connections,
        resources,
        findUser,
        audit,
        identityProvider,
        now,
        pictures: dependencies.pictures,
        authority: admin.authority,
        usage: createApplicationUsage({ db, sql, now }),
        signIns,
        preview,
        configFile: config.configFile,
      }),
      apiRoutes({ frame, resources, configFile: config.configFile }),
      connectionRoutes({ frame, connections, issuer, now, tries: dependencies.tries, configFile: config.configFile }),
      userRoutes({
        frame,
        users,
        roles,
        sessions,
        applications,
        now,
        names,
        audit,
        accounts,
        attributeSchema,
        issuer,
        mail,
        configFile: config.configFile,
        authority: admin.authority,
        hasMailServer: config.smtpUrl !== undefined,
        lockedAccounts: dependencies.lockedAccounts,
      }),
      importRoutes({ frame, audit, imports: createUserImport({ accounts, attributeSchema, connections, users }) }),
      roleRoutes({ frame, roles, users, findUser, configFile: config.configFile }),
      suggestionRoutes({ frame, users, applications, roles }),
      sessionRoutes({ frame, sessions, findUser, names }),
      auditRoutes({ frame, names, audit, findUser, applications, authority: admin.authority }),
      apiKeyRoutes({ frame, apiKeys: admin.apiKeys, findUser, issuer, now }),
      keyRoutes({
        frame,
        keys,
        now,
        readiness: createKeyReadiness({ db, applications, signIns }),
        policy: async () => rotationPolicy(Number(await settingOf('session_hours')) * 3600),
      }),
      mailRoutes({ frame, mail }),
      mailTemplateRoutes({ frame, brand, names, templates: mail.templates }),
      ...brandRoutes({
        frame,
        db,
        names,
        settings,
        brand,
        pictures: dependencies.pictures,
        images: brandImages,
        mailTemplates: mail.templates,
        configFile: config.configFile,
      }),
      settingRoutes({ frame, settings, system: dependencies.system, configFile: config.configFile }),
      signUpCodeRoutes({
        frame,
        codes: admin.signUpCodes,
        issuer,
        areNeeded: async () =>
          Boolean((await settingOf('self_registration')) && (await settingOf('sign_up_code_required'))),
      }),
      confirmationRoutes({ frame, storedPages, signedIn: page.signedIn }),
    ],
  };
}
