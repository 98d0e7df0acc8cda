// What a SAML AuthnRequest requires of the sign-in, as the prompts and the sign-in pages see it. src/protocols/saml implements it.
import type { Account } from '../../../people/accounts/account.ts';
import type { Acr } from '../../../people/mfa/acr.ts';

/** What has to be added to a sign-in so that it meets the requested authentication context. With neither, nothing can. */
export interface LackingContext {
  /** acr values that meet it when a further factor reaches one of them, weakest first. */
  acrs: Acr[];
  /** The password meets it, in addition to what was proven. */
  password: boolean;
}

/** An OpenID Connect request requires none of this. */
export interface SamlRequirements {
  /** What a sign-in with these methods (`amr`) lacks to meet its RequestedAuthnContext (Core 3.3.2.2.1); undefined: nothing. */
  lacking(proven: readonly string[]): LackingContext | undefined;
  /** Whether the assertion may be about this account: it is the Subject of the request, or the request names none (Core 3.4.1). */
  isSubject(account: Account): Promise<boolean>;
}
