// A rejected request against what is registered now: what each rule expects, and whether the broken one would pass.
import { X509Certificate } from 'node:crypto';
import { describeRegistrationFault, type RegistrationFault } from '../../admin/applications/preview.ts';
import { accessDecisionRule } from '../../applications/access-decision.ts';
import type { Application } from '../../applications/application.ts';
import type { OidcMetadata } from '../../applications/fields/oidc-client.ts';
import { includesResource } from '../../applications/uris.ts';
import { type PageText, t, textAt } from '../../base/texts/text.ts';
import type { Rejection } from '../../core/rejections/rejections.ts';
import type { RuleId, RuleResult } from '../../core/rejections/rules.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import { NOT_ENABLED } from '../../federation/upstream-sign-in.ts';
import type { Account } from '../../people/accounts/account.ts';
import { brokenRule, rulesFor } from '../../protocols/forward-auth/path-rules.ts';
import { type EvaluatedRequest, passesRule } from '../../protocols/oidc/engine/requests/request-rules.ts';
import type { SamlSide } from '../../protocols/saml/metadata/service-providers.ts';
import { brokenRuleOfRecorded } from '../../protocols/saml/sso/request-checks.ts';
import type { AgentCase } from './agents.ts';
import { ruleExplanation, ruleLabel } from './rule-texts.ts';

/** A rejection with what is registered now. */
export interface Case {
  rejection: Rejection;
  application: Application | undefined;
  account: Account | undefined;
  /** Of a rejected sign-in at an upstream. */
  connection: Connection | undefined;
  /** Of a service provider. */
  side: SamlSide | undefined;
  /** What is wrong with the registration now, in the engine's words. */
  registrationFault: string | undefined;
  /** A client that nobody registered. */
  agent: AgentCase | undefined;
  /** The requested APIs that do not exist. */
  missingApis: readonly string[];
  /** The requested APIs that are those of Gatehouse itself. */
  ownApis: readonly string[];
}

export interface ExplainedRule {
  id: RuleId;
  label: PageText;
  state: RuleResult['state'];
  received?: PageText | undefined;
  registered?: PageText | undefined;
  explanation?: PageText | undefined;
}

/** Every rule of the request in the order of its checks, in words. */
export function explainedRules(about: Case): ExplainedRule[] {
  return about.rejection.rules.map(({ rule, state, received, expected }) => {
    const now = registeredNow(rule, about);
    return {
      id: rule,
      label: labelOf(rule, about),
      state,
      received: received ?? now?.received,
      // Of a rule of SCIM in the language of the page; the stored one is in English.
      registered:
        (rule === 'resource' ? about.agent?.apis.join('\n') : undefined) ??
        textAt(`console.rejections.expected.${rule}`) ??
        expected ??
        now?.expected,
      explanation: explanationOf(rule, about),
    };
  });
}

/** Whether the request would pass the rule with what is registered now; undefined where that cannot be evaluated. */
export function passesNow(rule: RuleId, about: Case): boolean | undefined {
  const { rejection, connection, side } = about;
  if (rejection.endpoint === 'upstream') return connection && upstreamPasses(rule, about, connection);
  if (rejection.endpoint === 'saml' && side && OF_REGISTRATION.includes(rule)) {
    const broken = samlTrial(rule, rejection, side);
    return broken && broken !== rule;
  }
  if (rule === 'registration') return registrationPasses(about);
  if (rule === 'path_rule') return pathRulePasses(about);
  // Where a new request comes from is not known.
  if (rule === 'network') return undefined;
  if (rule === 'resource' && about.missingApis.length > 0) return false;
  if (rule === 'resource' && about.agent)
    return rejection.received.resource?.split(' ').every((one) => includesResource(about.agent?.apis, one));
  return passesRule(rule, evaluatedRequest(about));
}

/** Whether the rule that counts for the path now allows the user; undefined where it needs another sign-in. */
function pathRulePasses({ application, account, rejection: { received } }: Case): boolean | undefined {
  if (application?.protocol !== 'proxy' || !account) return undefined;
  const rules = rulesFor(application.metadata.paths, received.method ?? '', received.path ?? '');
  if (brokenRule(rules, account)) return false;
  return rules.some((rule) => rule?.rule === 'mfa') ? undefined : true;
}

/** The rules of an AuthnRequest that depend on its registration alone. */
const OF_REGISTRATION: readonly RuleId[] = [
  'signing_key',
  'certificate',
  'acs',
  'binding',
  'passive',
  'qualifier',
  'name_id',
  'context',
];

/**
 * A trial run of a recorded AuthnRequest against a registration: the rule that it breaks of those that the registration decides. Undefined
 * where its signature cannot be tried, because it names no certificate.
 */
export function samlTrial(rule: RuleId, { received }: Rejection, side: SamlSide): RuleId | 'nothing' | undefined {
  const { certificate } = received;
  if (rule === 'certificate' || rule === 'signing_key') {
    if (!certificate) return undefined;
    // Named only when its key made the signature of the request (protocols/saml/sso/rejected-requests.ts).
    if (!isRegistered(certificate, side.certificates)) return rule;
  }
  return brokenRuleOfRecorded(received, side)?.rule ?? 'nothing';
}

/** A trial run of a recorded request of OpenID Connect: the first rule that it breaks with this registration. */
export function oidcTrial(about: Case, metadata: OidcMetadata): RuleId | 'nothing' {
  const request = { ...evaluatedRequest(about), metadata };
  return about.rejection.rules.find(({ rule }) => passesRule(rule, request) === false)?.rule ?? 'nothing';
}

/** Whether the connection would pass the rule now; undefined where only a new sign-in can tell. */
function upstreamPasses(
  rule: RuleId,
  { rejection: { message, received }, account }: Case,
  connection: Connection,
): boolean | undefined {
  if (rule === 'address' && account && account.ssoId === received.subject) return true;
  return rule === 'connection' && message === NOT_ENABLED && connection.enabled ? true : undefined;
}

/** The keys behind a jwks_uri are read when they are needed: only a new request can tell. */
function registrationPasses({ application, registrationFault }: Case): boolean | undefined {
  if (registrationFault !== undefined) return false;
  return application?.protocol !== 'oidc' || application.metadata.jwks_uri !== undefined ? undefined : true;
}

/** What is wrong with the registration of a rejected request, and where to change it. */
export function registrationFaultIn({
  application,
  registrationFault,
  rejection,
}: Case): RegistrationFault | undefined {
  if (application?.protocol !== 'oidc') return undefined;
  const recorded = rejection.rules.find(({ rule, state }) => rule === 'registration' && state === 'failed')?.expected;
  const reason = registrationFault ?? recorded;
  return reason === undefined ? undefined : describeRegistrationFault(application, reason);
}

/** Whether one of the certificates (PEM) is this one. */
export function isRegistered(certificate: string, registered: readonly string[]): boolean {
  return registered.some((known) => fingerprint(known) === fingerprint(certificate));
}

function evaluatedRequest({ rejection, application, account, agent }: Case): EvaluatedRequest {
  const { endpoint, received, clientId, message } = rejection;
  return {
    endpoint,
    received,
    clientId,
    message,
    isClientKnown: agent?.isAllowed ?? application?.enabled ?? false,
    metadata: application?.protocol === 'oidc' ? application.metadata : undefined,
    access: application && account && accessDecisionRule(application, account),
  };
}

/** For the rules that are decided where the registration is not at hand. */
function registeredNow(
  rule: RuleId,
  about: Case,
): { received?: PageText | undefined; expected?: PageText | undefined } | undefined {
  const { rejection, application, side } = about;
  if (rule === 'client') {
    const registered = application && nameNow(application);
    return { received: rejection.clientId, expected: registered };
  }
  const { access } = evaluatedRequest(about);
  if (access?.rule === rule) return access;
  if (rule !== 'certificate' && rule !== 'signature' && rule !== 'signing_key') return undefined;
  const { certificate, signed } = rejection.received;
  const unnamed = signed === 'yes' ? t('console.rejections.unnamed-signature') : undefined;
  return {
    received: certificate ? fingerprint(certificate) : unnamed,
    expected: (side?.certificates ?? certificatesOf(about.connection))?.map(fingerprint).join('\n'),
  };
}

function labelOf(rule: RuleId, { rejection: { endpoint } }: Case): PageText {
  if (rule === 'grant' && endpoint !== 'token') return t('console.rejections.client-enabled');
  if (rule === 'request' && endpoint === 'token') return t('console.rejections.request-complete');
  return ruleLabel(rule, endpoint);
}

function explanationOf(rule: RuleId, about: Case): PageText | undefined {
  const { application, agent, rejection } = about;
  if (agent?.text && rejection.rules.some((one) => one.rule === rule && one.state === 'failed')) return agent.text;
  if (rule === 'registration') return registrationFaultIn(about)?.text;
  if (rule === 'client')
    return application ? t('console.rejections.is-disabled') : t('console.rejections.unknown-identifier');
  return ruleExplanation(rule, about.rejection.endpoint);
}

const certificatesOf = (connection: Connection | undefined) =>
  connection?.kind === 'saml' ? connection.settings.certificates : undefined;

const nameNow = ({ clientId, enabled }: Application): PageText =>
  enabled ? clientId : t('console.rejections.disabled-client', { client: clientId });

/** SHA-256 of a certificate; the text itself where it is none. */
function fingerprint(pem: string): string {
  try {
    return new X509Certificate(pem).fingerprint256;
  } catch {
    return pem;
  }
}
