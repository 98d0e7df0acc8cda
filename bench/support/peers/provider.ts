// What the benchmark of peers needs to know about an identity provider, Gatehouse or a peer.
import type { StartedChild } from '../child.ts';
import type { Question } from '../website.ts';

export interface Endpoints {
  discovery: string;
  authorization: string;
  token: string;
  userinfo: string;
  introspection: string;
  /** Single sign-on of SAML by redirect. */
  saml?: string;
}

/** A server that runs. */
export interface Provider extends StartedChild {
  endpoints: Endpoints;
  /** Grant types, from its discovery document. */
  grants: readonly string[];
  login: Login;
  /** Signs a user in, and returns the question of a proxy about a page that the user opens. */
  check?(): Promise<Question>;
}

/** A server that only answers proxies, and is no identity provider. */
export function checkOnly(child: StartedChild, check: () => Promise<Question>): Provider {
  const endpoints = { discovery: '', authorization: '', token: '', userinfo: '', introspection: '' };
  return { ...child, endpoints, grants: [], login: { fields: {} }, check };
}

/** The fields of its login form as the user fills them in, or the login application of a provider that has no login form. */
export type Login = LoginForm | { application: LoginApplication };

export interface LoginForm {
  fields: Record<string, string>;
  /** Whether it fails when the same user signs in twice at a time. */
  isSerial?: boolean;
}

/** Takes the address at which the browser arrived; returns the one to which the browser is sent. */
export type LoginApplication = (arrivedAt: string) => Promise<string>;

/** A server with its data, stopped. */
export interface Installation {
  /** With the database: `Gatehouse, SQLite`. */
  name: string;
  version: string;
  /** What differs from its defaults, and the defaults that matter here. */
  settings: string;
  /** The first start creates client, user and tables. */
  start(): Promise<Provider>;
  remove(): void;
}

export interface InstallOptions {
  /** Its program, or the folder of its distribution. */
  program: string;
  /** An empty database on PostgreSQL. */
  databaseUrl: string;
}

/** Where a login application would be; nothing listens there. */
export const loginApplicationUrl = 'http://127.0.0.1:4998';

/** The running server with what its discovery document says. */
export async function providerOf(
  child: StartedChild,
  discovery: string,
  { login, check, ...others }: Pick<Provider, 'login' | 'check'> & Partial<Endpoints>,
): Promise<Provider> {
  const document = (await (await fetch(discovery)).json()) as {
    authorization_endpoint: string;
    token_endpoint: string;
    userinfo_endpoint: string;
    introspection_endpoint?: string;
    grant_types_supported?: string[];
  };
  const endpoints = {
    discovery,
    authorization: document.authorization_endpoint,
    token: document.token_endpoint,
    userinfo: document.userinfo_endpoint,
    introspection: document.introspection_endpoint ?? '',
    ...others,
  };
  return { ...child, endpoints, grants: document.grant_types_supported ?? [], login, ...(check && { check }) };
}
