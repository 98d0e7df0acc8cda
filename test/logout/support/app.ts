// What the applications of the logout tests have in common, for both protocols.
import type { TestIdp } from '../../support/idp.ts';
import type { AppAnswer, AppServer } from './app-server.ts';

export interface App extends AppServer {
  name: string;
  clientId: string;
  /** The notifications that it received, in order: back, front or slo. */
  heard: string[];
  /** How many sessions it holds. */
  sessions(): number;
  /** Answers to sign-outs of its own: the status codes, and the RelayState that came along. */
  answers: { codes: string[]; relayState: string | undefined }[];
}

export type Idp = Pick<TestIdp, 'services' | 'issuer'>;
/** A session of an application. */
export interface Held {
  sid?: string | undefined;
  idToken?: string | undefined;
  nameId?: string;
  sub?: string | undefined;
  acr?: string;
  profile?: object;
}

/** Its start page. */
export function page(name: string, held: Held | undefined): AppAnswer {
  return {
    html: held
      ? `<h1>${name}: signed in</h1><p data-user="${held.sub}" data-acr="${held.acr}"></p><a href="/sign-out">Sign out</a>`
      : `<h1>${name}: signed out</h1>`,
  };
}
