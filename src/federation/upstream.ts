// What the protocols of upstream identity providers have in common. Each kind of connection implements UpstreamProtocol; matching,
// mapping, assurance and linking see only these types.
import type { Connection, ConnectionKind } from './connections/connection.ts';

/** What a sign-in demands of the upstream. */
export interface UpstreamRequirements {
  /** acr values or AuthnContext classes, as the upstream names them. */
  acrValues: string[];
  /** The oldest acceptable authentication (OIDC Core 3.1.2.1 max_age). */
  maxAgeSeconds?: number | undefined;
  /** The user must authenticate again (prompt=login, ForceAuthn). */
  forced: boolean;
  loginHint?: string | undefined;
}

/** Where the browser goes with the request. */
export type UpstreamRedirect =
  | { method: 'redirect'; url: string }
  | { method: 'post'; url: string; fields: Record<string, string> };

/** A request on its way: what is sent, and what redeeming the answer needs. */
export interface BegunRequest {
  /** The state or the ID of the AuthnRequest; its SHA-256 finds the request again. */
  handle: string;
  redirect: UpstreamRedirect;
  /** Stored encrypted: nonce, PKCE verifier. */
  memory: Record<string, unknown>;
}

/** The parameters of an answer, as the browser brought them to the callback. */
export type UpstreamAnswer = Record<string, string>;

/** What a logout at the upstream needs. */
export type UpstreamSessionHandle =
  | { kind: 'oidc'; sid?: string | undefined; idToken: string }
  | { kind: 'saml'; sessionIndex?: string | undefined; nameId: Record<string, string> };

/** Who the upstream says the user is; everything in it was verified. */
export interface UpstreamIdentity {
  /** Unique and stable at the connection: `sub`, `tid:oid`, persistent NameID, objectGUID. Empty: the upstream named none. */
  subject: string;
  claims: Record<string, unknown>;
  /** Undefined: the connection has no groups. An incomplete list changes no roles. */
  groups: { names: string[]; isComplete: boolean } | undefined;
  acr: string | undefined;
  amr: string[];
  /** When the user authenticated; undefined where the upstream does not say. */
  authTime: Date | undefined;
  /** Undefined where the upstream has no logout. */
  session: UpstreamSessionHandle | undefined;
}

/** A check of an answer that succeeded, for "Try it". */
export interface PassedCheck {
  name: string;
  expected: string;
  received: string;
}

export interface Redeemed {
  identity: UpstreamIdentity;
  checks: PassedCheck[];
}

/** What redeeming an answer needs beside the answer. */
export interface SentRequest {
  /** The redirect URI, or the assertion consumer service. */
  callbackUrl: string;
  memory: Record<string, unknown>;
  /** By the clock of this server. */
  sentAt: Date;
}

/** One kind of connection with a redirect. Errors are thrown as FederationError (faults.ts). */
export interface UpstreamProtocol {
  begin(connection: Connection, requirements: UpstreamRequirements, callbackUrl: string): Promise<BegunRequest>;
  /** Verifies the answer and returns the identity. */
  redeem(connection: Connection, answer: UpstreamAnswer, request: SentRequest): Promise<Redeemed>;
  /**
   * Tries the client authentication with a code that no upstream issued (RFC 6749 5.2: invalid_client comes before invalid_grant).
   * Throws the error of the upstream in any case.
   */
  tryClient?(connection: Connection, callbackUrl: string): Promise<never>;
}

/** One for each kind of connection that the browser is redirected to. */
export type Protocols = Partial<Record<ConnectionKind, UpstreamProtocol>>;
