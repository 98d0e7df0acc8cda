// What the presets are made of, and what they share: the question for an address, and the address made whole.
import { badRequest } from '../../http/errors.ts';
import type { Field } from './blocks.ts';

export type Answers = Record<string, string>;
export type Declaration = Record<string, unknown>;

/** Our side, as the other side has to be told. */
export interface OurSide {
  issuer: string;
  clientId: string;
  /** Shown once, right after it was made. */
  clientSecret?: string | undefined;
  /** PEM of the certificate that assertions are signed with. */
  certificate: string;
}

export interface Paste {
  title: string;
  text: string;
}

export interface Preset {
  id: string;
  title: string;
  /** One line, for choosing. */
  text: string;
  protocol: 'oidc' | 'saml';
  fields: readonly Field[];
  /** Entry of the configuration file. Throws invalid_input for answers that make none. */
  declare(answers: Answers): Declaration;
  /** Ready to paste; without it the general settings are shown alone. */
  paste?(side: OurSide, declaration: Declaration): Paste[];
}

export function urlField(product: string, example: string): Field {
  return { name: 'url', label: `Address of your ${product}`, hint: `Such as ${example}`, required: true };
}

/** The address without a slash at its end; throws invalid_input when it is none. */
export function baseOf(url: string | undefined): string {
  const text = (url ?? '').trim();
  const whole = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  if (text === '' || !URL.canParse(whole)) {
    throw badRequest('invalid_input', { fields: [{ field: 'url', message: 'is not a web address' }] });
  }
  const { origin, pathname } = new URL(whole);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

/** An answer that has to look like this; throws invalid_input. */
export function answer(answers: Record<string, string>, field: string, pattern: RegExp, message: string): string {
  const value = (answers[field] ?? '').trim();
  if (!pattern.test(value)) throw badRequest('invalid_input', { fields: [{ field, message }] });
  return value;
}

export const DOMAIN = /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)+$/i;
export const LABEL = /^[a-z0-9][a-z0-9-]{0,62}$/i;
