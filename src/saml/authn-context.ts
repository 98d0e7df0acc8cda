// RequestedAuthnContext (SAML Core 3.3.2.2.1) against the levels of mfa/acr.ts. Pure. The class that an answer states is
// always one that is true of the sign-in: `exact` password is not said of somebody who used none.
import { type Acr, acrLevel, acrValues } from '../mfa/acr.ts';
import type { RequestedAuthnContext } from './authn-request.ts';
import { contextClasses } from './names.ts';

/** What is known of a finished sign-in. */
export interface SignInFacts {
  acr: string | undefined;
  amr: readonly string[];
}

const unspecified = 'urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified';
const strength: readonly string[] = [contextClasses.password, contextClasses.mfa, contextClasses.passkey];
/** Names by which others ask for the same strength; never stated by us unless asked for by that very name. */
const aliases = new Map<string, string>([['urn:oasis:names:tc:SAML:2.0:ac:classes:Password', contextClasses.password]]);

/**
 * The acr values that can meet the request, weakest first; empty: none can, which is NoAuthnContext. Undefined: the
 * request does not care.
 */
export function acceptableAcrs(requested: RequestedAuthnContext | undefined): Acr[] | undefined {
  if (isIndifferent(requested)) return undefined;
  // A second factor of ours follows a password; a passkey stands alone.
  const amrOf: Record<Acr, string[]> = {
    'urn:gatehouse:acr:password': ['pwd'],
    'urn:gatehouse:acr:mfa': ['pwd', 'mfa'],
    phr: ['hwk', 'user'],
  };
  return acrValues.filter((acr) => answerContext(requested, { acr, amr: amrOf[acr] }) !== undefined);
}

/**
 * Whether only a sign-in with the password itself can meet the request, however strong another may be. node-saml asks
 * for exactly that unless told otherwise.
 */
export function needsPassword(requested: RequestedAuthnContext | undefined): boolean {
  const passkey = { acr: acrValues[2], amr: ['hwk', 'user'] };
  const meets = (amr: string[]) => answerContext(requested, { ...passkey, amr }) !== undefined;
  return !meets(passkey.amr) && meets(['pwd', ...passkey.amr]);
}

/** The class to state in the assertion; undefined: this sign-in does not meet the request (NoAuthnContext). */
export function answerContext(requested: RequestedAuthnContext | undefined, facts: SignInFacts): string | undefined {
  const trueClasses = classesOf(facts);
  const strongest = trueClasses.at(-1);
  if (isIndifferent(requested)) return strongest ?? unspecified;
  if (!requested || requested.classes.length === 0) return undefined;
  if (requested.comparison === 'exact') {
    return requested.classes.find(
      (asked) => asked === unspecified || trueClasses.includes(aliases.get(asked) ?? asked),
    );
  }
  const levels = requested.classes.map(levelOf);
  const known = levels.filter((level) => level !== undefined);
  if (known.length === 0) return undefined;
  switch (requested.comparison) {
    case 'minimum':
      return levelAtLeast(strongest, Math.min(...known));
    case 'better':
      // Stronger than each; than one that we do not know, nothing is known to be stronger.
      return known.length === levels.length ? levelAtLeast(strongest, Math.max(...known) + 1) : undefined;
    case 'maximum':
      return trueClasses.filter((name) => strength.indexOf(name) <= Math.max(...known)).at(-1);
  }
}

function isIndifferent(requested: RequestedAuthnContext | undefined): boolean {
  return !requested || (requested.comparison === 'minimum' && requested.classes.includes(unspecified));
}

/** Every class that truthfully describes the sign-in, weakest first. */
function classesOf({ acr, amr }: SignInFacts): string[] {
  const level = acrLevel(acr);
  return strength.filter((_, index) => (index === 0 ? amr.includes('pwd') : index < level));
}

function levelOf(asked: string): number | undefined {
  if (asked === unspecified) return -1;
  const level = strength.indexOf(aliases.get(asked) ?? asked);
  return level < 0 ? undefined : level;
}

function levelAtLeast(name: string | undefined, level: number): string | undefined {
  return name !== undefined && strength.indexOf(name) >= level ? name : undefined;
}
