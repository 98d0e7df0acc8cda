// A rejection explained: its rules in order, the one that failed, and the fixes that are safe.

import type { RegistrationProblem } from '../../admin/applications/tabs/registration-problem.ts';
import type { Application } from '../../applications/application.ts';
import { type AppError, conflict, notFound } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Rejection } from '../../core/rejections/rejections.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import { ownResources } from '../../people/rbac/built-in.ts';
import { samlSideOf } from '../../protocols/saml/metadata/service-providers.ts';
import type { DiagnosticServices } from '../services.ts';
import { type Case, type ExplainedRule, explainedRules, passesNow, problemOf } from './evaluation.ts';
import type { ApplicableFix, Fix } from './fix.ts';
import { fixesOf, noteOn } from './fixes.ts';

export interface Explanation {
  rejection: Rejection;
  application: Application | undefined;
  account: { id: string; username: string } | undefined;
  /** Of a rejected sign-in at an upstream. */
  connection: Connection | undefined;
  rules: ExplainedRule[];
  /** Whether the rule that failed would pass now. */
  isFixed: boolean;
  fixes: Fix[];
  /** Why no fix is offered, or what the fix cannot know. */
  note?: PageText | undefined;
  /** What is wrong with the registration, where that failed. */
  problem?: RegistrationProblem | undefined;
}

export type RejectionAdmin = ReturnType<typeof createRejectionAdmin>;

function unknownReference(): AppError {
  const { keepDays, perHour } = limits.rejections;
  const advice = t('console.rejections.not-found.advice', { days: keepDays, limit: perHour });
  return notFound({ message: t('console.rejections.not-found'), advice });
}

export function createRejectionAdmin(services: DiagnosticServices) {
  const { rejections, accounts, applications, config, connections, db, oidc } = services;
  const apisOfServer = ownResources(config.issuer);

  /** Of these APIs, those that are neither registered nor of this server. */
  async function missingApis(identifiers: readonly string[]): Promise<string[]> {
    const where = { identifier: { in: [...identifiers] } };
    const rows = await db.asStored.resource.findMany({ where, select: { identifier: true } });
    const existing = [...rows.map(({ identifier }) => identifier), ...Object.keys(apisOfServer)];
    return identifiers.filter((identifier) => !existing.includes(identifier));
  }

  async function caseOf(code: string): Promise<Case> {
    const rejection = await rejections.find(code);
    if (!rejection) throw unknownReference();
    const { clientId, endpoint } = rejection;
    const [application, connection, account] = await Promise.all([
      clientId === undefined || endpoint === 'upstream' ? undefined : applications.find(clientId),
      clientId !== undefined && endpoint === 'upstream' ? connections.find(clientId) : undefined,
      rejection.subjectId === undefined ? undefined : accounts.find(rejection.subjectId),
    ]);
    const side = application?.protocol === 'saml' ? samlSideOf(application.clientId, application.metadata) : undefined;
    const requested = rejection.received.resource?.split(' ') ?? [];
    const ownApis = requested.filter((identifier) => Object.hasOwn(apisOfServer, identifier));
    const isRegistration = rejection.rules.some(({ rule, state }) => rule === 'registration' && state === 'failed');
    const registrationFault =
      isRegistration && application ? await oidc.registrationFaultOf(application.clientId) : undefined;
    const apis = { missingApis: await missingApis(requested), ownApis };
    return { rejection, application, account, connection, registrationFault, side, ...apis };
  }

  async function explained(code: string): Promise<{ explanation: Explanation; fixes: ApplicableFix[] }> {
    const about = await caseOf(code);
    const { rejection, application, account, connection } = about;
    const failed = rejection.rules.find(({ state }) => state === 'failed')?.rule;
    const isFixed = failed !== undefined && passesNow(failed, about) === true;
    const isBroken = failed !== undefined && !isFixed;
    const fixes = isBroken ? await fixesOf(failed, about, services) : [];
    return {
      fixes,
      explanation: {
        rejection,
        application,
        connection,
        isFixed,
        rules: explainedRules(about),
        account: account && { id: account.id, username: account.username },
        fixes: fixes.map(({ apply: _apply, ...fix }) => fix),
        note: isBroken ? noteOn(failed, about, fixes.length > 0) : undefined,
        problem: failed === 'registration' ? problemOf(about) : undefined,
      },
    };
  }

  return {
    list: rejections.list,
    /** Throws not_found. */
    explain: async (code: string): Promise<Explanation> => (await explained(code)).explanation,

    /** Applies one of the fixes. Throws conflict when it is not offered any more, or changed nothing. */
    async fix(code: string, id: string, by: Actor): Promise<Explanation> {
      const { fixes } = await explained(code);
      const wanted = fixes.find((one) => one.id === id);
      if (!wanted) throw conflict('conflict', { message: t('console.rejections.fix-gone') });
      await wanted.apply(by);
      return (await explained(code)).explanation;
    },
  };
}
