// Decides which account a verified identity of an upstream signs in to: the first rule that applies. No rule trusts an address
// more than the connection allows. A pure function; docs/connections.md explains each rule to administrators.

/** An account that could be the user's. */
export interface Candidate {
  id: string;
  isActive: boolean;
  emailVerified: boolean;
  /** How the upstream's address matches the account: equal, only similar-looking (people/accounts/names.ts), or equal to its username. */
  matches: 'address' | 'look-alike' | 'username';
  /** Whether the account has a password, a passkey or an identity of a connection, so that its owner can prove it. */
  hasOwnCredential: boolean;
  /** Whether the account has a permission for Gatehouse itself. */
  isStaff: boolean;
  /** Whether the same connection has named another subject for the account. */
  isOfOtherSubject: boolean;
}

export interface MatchFacts {
  /** The user who is already linked to this subject of this connection. */
  known: Pick<Candidate, 'id' | 'isActive'> | undefined;
  /** The account of an invitation that is open in this browser. */
  invited: Pick<Candidate, 'id' | 'isActive'> | undefined;
  /** The account whose email address or username is the address from the upstream. */
  holder: Candidate | undefined;
  /** Whether the upstream proves that the address is the user's. */
  isEmailTrusted: boolean;
  /** Whether the address is in a proven domain of this connection. */
  isInProvenDomain: boolean;
  /** The rules of the connection. */
  createUsers: boolean;
  linkOnly: boolean;
  link: 'prove' | 'trusted';
}

export type Match =
  | { outcome: 'known'; userId: string }
  /** The identity is linked to this account at once. */
  | { outcome: 'link'; userId: string; rule: 'invitation' | 'trusted-address' }
  /** The identity is linked once the user has proven this account here. */
  | { outcome: 'prove'; userId: string }
  /** A new account; the one that never verified the address loses it. */
  | { outcome: 'create'; takesAddressFrom?: string }
  | { outcome: 'rejected'; fault: 'account_inactive' | 'not_invited' | 'address_in_use' };

export function matchAccount(facts: MatchFacts): Match {
  const { known, invited, holder } = facts;
  if (known) return ifActive(known, { outcome: 'known', userId: known.id });
  // A user of such a connection links it on the account page first.
  if (facts.linkOnly) return { outcome: 'rejected', fault: 'not_invited' };
  if (invited) return ifActive(invited, { outcome: 'link', userId: invited.id, rule: 'invitation' });
  if (holder && !mustReleaseAddress(holder, facts)) {
    const { id: userId } = holder;
    // Two users of one upstream: another person, or one who was created again there. Only an administrator knows.
    if (holder.isOfOtherSubject) return ifActive(holder, { outcome: 'rejected', fault: 'address_in_use' });
    if (mayLinkWithoutProof(holder, facts))
      return ifActive(holder, { outcome: 'link', userId, rule: 'trusted-address' });
    const proof: Match = { outcome: 'prove', userId };
    // A user who only states the address reads that the account is disabled after the proof of it.
    return facts.isEmailTrusted ? ifActive(holder, proof) : proof;
  }
  if (!facts.createUsers) return { outcome: 'rejected', fault: 'not_invited' };
  return holder ? { outcome: 'create', takesAddressFrom: holder.id } : { outcome: 'create' };
}

/**
 * The creator of an account may have entered the address of another person without verifying it (pre-hijacking, arXiv 2205.10174). So
 * the user who proves the address gets the address, but not the account. An administrator's account keeps its address.
 */
function mustReleaseAddress({ emailVerified, isStaff, matches }: Candidate, { isEmailTrusted }: MatchFacts): boolean {
  return !emailVerified && isEmailTrusted && !isStaff && matches !== 'username';
}

/** Without a proof only if nothing but the address could prove the account, and both sides have verified it. */
function mayLinkWithoutProof(holder: Candidate, { link, isEmailTrusted, isInProvenDomain }: MatchFacts): boolean {
  const isProvenTwice = isEmailTrusted && isInProvenDomain && holder.emailVerified && holder.matches === 'address';
  return link === 'trusted' && isProvenTwice && !holder.hasOwnCredential && !holder.isStaff;
}

function ifActive({ isActive }: Pick<Candidate, 'isActive'>, match: Match): Match {
  return isActive ? match : { outcome: 'rejected', fault: 'account_inactive' };
}
