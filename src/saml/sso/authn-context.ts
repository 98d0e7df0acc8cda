// RequestedAuthnContext (SAML Core 3.3.2.2.1) compared with the acr levels of mfa/acr.ts. Pure. An assertion only states a
// class that is true of the sign-in: no password class for a user who used no password.
import { type Acr, acrLevel, acrValues, MFA_ACR, PASSWORD_ACR, PHISHING_RESISTANT_ACR } from '../../mfa/acr.ts';
import type { RequestedAuthnContext } from '../messages/authn-request.ts';
import { contextClasses } from '../xml/names.ts';

/** The result of a completed sign-in. */
export interface CompletedSignIn {
  acr: string | undefined;
  amr: readonly string[];
}

const unspecified = 'urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified';
const strength: readonly string[] = [contextClasses.password, contextClasses.mfa, contextClasses.passkey];
/** Other names for the same strength; stated only when the request names them. */
const aliases = new Map<string, string>([['urn:oasis:names:tc:SAML:2.0:ac:classes:Password', contextClasses.password]]);

/**
 * The acr values that meet the request, weakest first. Empty: none does, which is NoAuthnContext. Undefined: any sign-in
 * meets it.
 */
export function acceptableAcrs(requested: RequestedAuthnContext | undefined): Acr[] | undefined {
  if (acceptsAnyContext(requested)) return undefined;
  // A second factor always follows a password here; a passkey needs none.
  const amrOf: Record<Acr, string[]> = {
    [PASSWORD_ACR]: ['pwd'],
    [MFA_ACR]: ['pwd', 'mfa'],
    [PHISHING_RESISTANT_ACR]: ['hwk', 'user'],
  };
  return acrValues.filter((acr) => authnContextFor(requested, { acr, amr: amrOf[acr] }) !== undefined);
}

/**
 * Whether only a sign-in with the password itself meets the request, however strong another one is. node-saml requests
 * this by default.
 */
export function needsPassword(requested: RequestedAuthnContext | undefined): boolean {
  const passkey = { acr: PHISHING_RESISTANT_ACR, amr: ['hwk', 'user'] };
  const meets = (amr: string[]) => authnContextFor(requested, { ...passkey, amr }) !== undefined;
  return !meets(passkey.amr) && meets(['pwd', ...passkey.amr]);
}

/** The class to state in the assertion; undefined: this sign-in does not meet the request (NoAuthnContext). */
export function authnContextFor(
  requested: RequestedAuthnContext | undefined,
  facts: CompletedSignIn,
): string | undefined {
  const trueClasses = classesOf(facts);
  const strongest = trueClasses.at(-1);
  if (acceptsAnyContext(requested)) return strongest ?? unspecified;
  if (!requested || requested.classes.length === 0) return undefined;
  if (requested.comparison === 'exact') {
    return requested.classes.find(
      (requestedClass) =>
        requestedClass === unspecified || trueClasses.includes(aliases.get(requestedClass) ?? requestedClass),
    );
  }
  const levels = requested.classes.map(levelOf);
  const known = levels.filter((level) => level !== undefined);
  if (known.length === 0) return undefined;
  switch (requested.comparison) {
    case 'minimum':
      return levelAtLeast(strongest, Math.min(...known));
    case 'better':
      // Stronger than each of them; nothing is known to be stronger than an unknown class.
      return known.length === levels.length ? levelAtLeast(strongest, Math.max(...known) + 1) : undefined;
    case 'maximum':
      return trueClasses.filter((name) => strength.indexOf(name) <= Math.max(...known)).at(-1);
  }
}

function acceptsAnyContext(requested: RequestedAuthnContext | undefined): boolean {
  return !requested || (requested.comparison === 'minimum' && requested.classes.includes(unspecified));
}

/** Every class that is true of the sign-in, weakest first. */
function classesOf({ acr, amr }: CompletedSignIn): string[] {
  const level = acrLevel(acr);
  return strength.filter((_, index) => (index === 0 ? amr.includes('pwd') : index < level));
}

function levelOf(contextClass: string): number | undefined {
  if (contextClass === unspecified) return -1;
  const level = strength.indexOf(aliases.get(contextClass) ?? contextClass);
  return level < 0 ? undefined : level;
}

function levelAtLeast(name: string | undefined, level: number): string | undefined {
  return name !== undefined && strength.indexOf(name) >= level ? name : undefined;
}
