// Patch: Session.IN_PAYLOAD, Session.prototype.loginAccount, authTime and past. A sign-in at an upstream identity provider happened
// when the user authenticated there, which may be hours ago or unknown, while the session of this server begins now. The engine
// has one time for both, so the time of the authentication is stored beside it.
import { engineSeconds } from '../../engine/configuration.ts';
import { Provider } from '../../engine/library.ts';

/** What sign-in/flow.ts adds to the result of an interaction. */
export interface UpstreamLogin {
  /** Epoch seconds; 0: the upstream does not say. Absent: the time of the sign-in here. */
  authTs?: number;
  /** The session at the upstream (federation/sessions.ts). */
  upstream?: string;
}

interface EngineSession {
  loginTs?: number;
  authTs?: number;
  loginAccount(details: object): void;
  authTime(): number | undefined;
  past(age: number | string): boolean;
}

export function separateAuthTime(provider: Provider): void {
  const sessions = provider.Session as unknown as { prototype: EngineSession; IN_PAYLOAD: string[] };
  const fields = [...sessions.IN_PAYLOAD, 'authTs'];
  Object.defineProperty(sessions, 'IN_PAYLOAD', { get: () => fields, configurable: true });
  const { loginAccount } = sessions.prototype;

  sessions.prototype.loginAccount = function loginWithAuthTime(details) {
    loginAccount.call(this, details);
    const { authTs } = upstreamLogin() ?? {};
    if (authTs === undefined) delete this.authTs;
    else this.authTs = authTs;
  };

  sessions.prototype.authTime = function authTime() {
    // Undefined, so that no token states a time that nobody knows.
    return (this.authTs ?? this.loginTs) || undefined;
  };

  sessions.prototype.past = function past(age) {
    const at = this.authTime();
    return at === undefined || engineSeconds() - at > Number(age);
  };
}

/** The login of the interaction that the running request resumes. */
export function upstreamLogin(): UpstreamLogin | undefined {
  const interaction = Provider.ctx?.oidc.entities.Interaction as { result?: { login?: UpstreamLogin } } | undefined;
  return interaction?.result?.login;
}
