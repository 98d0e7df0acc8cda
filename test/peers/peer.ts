// What the scenarios know of a peer.
import type { HttpClient, Page } from '../support/http.ts';
import type { Gatehouse } from './gatehouse.ts';

export interface Person {
  username: string;
  password: string;
  email: string;
}

/** Who signs in at the upstreams. */
export const person: Person = { username: 'ann', password: 'correct-horse-battery', email: 'ann@upstream.example' };
/** The group that `person` is in at upstreams that have groups, and the role and the group here that it gives. */
export const STAFF = 'staff';

/** An identity provider or directory that Gatehouse has a connection to. */
export interface Upstream {
  name: string;
  version: string;
  kind: 'oidc' | 'saml' | 'ldap';
  /** The address of its user, where that is not `person`. */
  email?: string;
  /** The entry of the connection, without its id. */
  connection: Record<string, unknown>;
  /** Fills in its sign-in page; absent where passwords are typed at Gatehouse. */
  signIn?(browser: HttpClient, page: Page): Promise<Page>;
  /** The user signs out there, as far as the first page that is not its own. */
  signOut?(browser: HttpClient): Promise<Page>;
  /** The user has a second factor there while `work` runs; `prove` fills it in. Absent: it is proven at Gatehouse. */
  withSecondFactor?(
    work: (prove: (browser: HttpClient, page: Page) => Promise<Page>) => Promise<string>,
  ): Promise<string>;
  /** Signs with a new key from now on; `published` runs while it is published but not used yet, if it can do so. */
  rollOver?(published: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** One application, as a user sees it. */
export interface Application {
  name: string;
  /** A page that needs a sign-in. */
  url: string;
  /** Where its sign-out begins. */
  signOutUrl: string;
  /** Who it says is signed in, on that page: the address, or `sub`. */
  userOn(page: Page): string | undefined;
  /** The acr or AuthnContextClassRef that it received, as far as it says. */
  levelOn(page: Page): string | undefined;
  /** The groups that it received, as far as it says. */
  groupsOn?(page: Page): string[];
}

/** Software for relying parties or service providers. */
export interface Downstream {
  name: string;
  version: string;
  kind: 'oidc' | 'saml';
  plain: Application;
  /** The same software, which demands a second factor in its request. */
  demanding: Application;
  stop(): Promise<void>;
}

export type StartUpstream = (gatehouse: Gatehouse, connectionId: string) => Promise<Upstream>;
/** @param group the only group that it admits; everybody when absent */
export type StartDownstream = (gatehouse: Gatehouse, group?: string) => Promise<Downstream>;
