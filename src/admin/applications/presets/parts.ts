// What a preset is, and what presets share: fields, and checks of what was entered.

import { badRequest } from '../../../base/http/errors.ts';
import { faultMessage } from '../../../base/platform/fault-messages.ts';
import { concatenated, type PageText, type Text, t } from '../../../base/texts/text.ts';
import type { Field } from '../../console/blocks.ts';
import { code } from './guide-text.ts';

export type Answers = Record<string, string>;
export type Declaration = Record<string, unknown>;

/** This server as an identity provider, as the other side has to be set up. */
export interface IdentityProvider {
  /** The name that users know it by: that of the brand. */
  name: string;
  issuer: string;
  clientId: string;
  /** Only right after it was created. */
  clientSecret?: string | undefined;
  /** PEM of the certificate that assertions are signed with. */
  certificate: string;
}

export interface SetupInstruction {
  title: PageText;
  text: PageText;
  /** The same settings in another form: closed until it is opened. */
  isAlternative?: boolean;
}

export const presetKinds = {
  development: t('console.preset.kind.development'),
  infrastructure: t('console.preset.kind.infrastructure'),
  home: t('console.preset.kind.home'),
  communication: t('console.preset.kind.communication'),
  office: t('console.preset.kind.office'),
} as const;

/** A role that a product reads. */
export interface PresetRole {
  name: string;
  /** The name that the product reads, where the application renames it. */
  nameThere?: string;
  description: PageText;
}

export interface Preset {
  id: string;
  title: PageText;
  /** One line, for the list of presets. */
  text: PageText;
  /** A name at lucide.dev; a product has its first letter. */
  icon?: string;
  protocol: 'oidc' | 'saml';
  fields: readonly Field[];
  /**
   * The declaration, as in the configuration file. Throws invalid_input.
   *
   * @param name of this server, as users know it
   */
  toDeclaration(answers: Answers, name: string): Declaration;
  /** Roles that its settings name. The form offers to create them. */
  roles?: readonly PresetRole[];
  /** Its own fields say who can sign in. */
  hasOwnAccess?: boolean;
  /** What users without those roles are in the product, such as `Viewer`. */
  withoutRoles?: PageText;
}

/** What a product demands of a person beyond the access rule, as its guide sets it up (demands.ts). */
export interface ProductDemands {
  /** It rejects people without an address; `verified`: also those whose address is not verified. */
  email?: 'address' | 'verified';
  /** Without one of its roles it rejects a person (`to-sign-in`), or signs the person in without any right (`for-rights`). */
  role?: 'to-sign-in' | 'for-rights';
  /** A role of any other name counts as well, once the administrator of the product gave it rights. */
  countsOtherRoles?: boolean;
  /** Its roles, where `Preset.roles` cannot name them. */
  roleNames?: RegExp;
}

/** What becomes of a sign-in at a product, as its guide sets it up. Each value is in the product's own words. */
export interface ProductLife {
  /** Whether it renews with refresh tokens, which the declaration and the scopes of the guide allow; a text: the setting for when. */
  renews: boolean | (string & {});
  /** Its sign-out ends the session here as well (`everywhere`), or its own only. */
  signOut: 'everywhere' | 'own';
  /**
   * The setting for the life of its own session, with the default where one is documented. `as-token`: that of the token; `as-assertion`: until
   * the SessionNotOnOrAfter of the assertion; `endless`: until the user signs out there.
   */
  session: 'as-token' | 'as-assertion' | 'endless' | (string & {});
  /**
   * The setting for a private certificate authority; `system`: the certificates of its operating system. `public`: only a public one, because
   * a cloud service calls this server; `none`: it never calls this server.
   */
  certificates: 'system' | 'public' | 'none' | (string & {});
  /** Whether it accepts an issuer with http; a text: the setting with which it does. Absent with `public` and `none`. */
  http?: boolean | (string & {});
  /** What must exist first, beside the roles that the form creates. */
  first?: PageText;
}

/** A product by name, with the settings for its side. */
export interface ProductPreset extends Preset {
  title: string;
  kind: keyof typeof presetKinds;
  /** The documents that its addresses and settings were checked against, each with a date or version. */
  checkedAgainst: string;
  /** What it demands of a person. */
  demands?: ProductDemands;
  life: ProductLife;
  /** What was run beside this preset (test/peers/products), and when. Absent: it was not run. */
  ran?: { what: string; on: string };
  /** Where the product describes them. */
  documentation: string;
  /** Settings in the product's own format, ready to paste. */
  setupInstructions(identityProvider: IdentityProvider, declaration: Declaration): SetupInstruction[];
}

/** What the guide says instead of a secret that can no longer be displayed. */
export const SECRET = t('console.preset.secret');

/** The state of a switch and of a box in the form of a product. */
export const ON = t('console.preset.on');
export const TICKED = t('console.preset.ticked');
export const NOT_TICKED = t('console.preset.not-ticked');

export const BEFORE_YOU_START = t('console.preset.before-you-start');

/** The field for the URL of a product. */
export function urlField(product: string, example: string): Field {
  return { name: 'url', label: t('console.preset.url', { product }), hint: suchAs(example), required: true };
}

/** The hint with an example. */
export const suchAs = (example: string): Text => t('console.preset.such-as', { example });

/** Of a host name that the product chose: its first part, as the product calls it. */
export const hostField = (name: string, label: PageText, suffix: string): Field => ({
  name,
  label,
  required: true,
  hint: t('console.preset.part-before', { suffix }),
});

/**
 * The URL without a slash at its end, `https` when it has no scheme. A name without a dot, such as `grafana`, needs its scheme: it could be
 * the name of the product or of a host. Throws invalid_input.
 */
export function baseOf(url: string | undefined): string {
  const text = (url ?? '').trim();
  const whole = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  const reject = (message: string) => badRequest('invalid_input', { fields: [{ field: 'url', message }] });
  if (text === '' || !URL.canParse(whole)) throw reject(faultMessage('web-address'));
  const { origin, pathname, hostname } = new URL(whole);
  if (whole !== text && !/[.:]/.test(hostname) && hostname !== 'localhost') throw reject(faultMessage('whole-address'));
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

/** An answer that has to match the pattern. Throws invalid_input with the message. */
export function answer(answers: Record<string, string>, field: string, pattern: RegExp, message: string): string {
  const value = (answers[field] ?? '').trim();
  if (!pattern.test(value)) throw badRequest('invalid_input', { fields: [{ field, message }] });
  return value;
}

export const DOMAIN = /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)+$/i;
export const DNS_LABEL = /^[a-z0-9][a-z0-9-]{0,62}$/i;

/** A web application of one product below its address, for which users are not asked for consent. */
export function webApplication(name: string, url: string | undefined, redirectPaths: readonly string[]): Declaration {
  const base = baseOf(url);
  return {
    client_name: name,
    client_uri: base,
    redirect_uris: redirectPaths.map((path) => `${base}${path}`),
    consent: 'implicit',
  };
}

/** The values of this server under the labels of the other side's form, which stay in its language. */
export function samlSettings(
  { issuer, certificate }: IdentityProvider,
  labels: { sso: string; slo?: string; entity?: string; certificate?: PageText },
): Text {
  const lines = [
    ...(labels.entity ? [`${labels.entity}: ${issuer}/saml/metadata\n`] : []),
    `${labels.sso}: ${issuer}/saml/sso\n`,
    ...(labels.slo ? [`${labels.slo}: ${issuer}/saml/slo\n`] : []),
  ];
  return concatenated([...lines, code`${labels.certificate ?? 'Certificate'}:\n${certificate.trim()}`]);
}

/** The address that signs out here, and then goes to an address that is registered for it (RP-Initiated Logout 1.0). */
export function endSession(issuer: string, clientId: string, afterwards: string): string {
  return `${issuer}/end-session?${new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: afterwards })}`;
}
