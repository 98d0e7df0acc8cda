// Patch: Session.IN_PAYLOAD, Session.prototype.loginAccount, authTime and past. A user may have
// authenticated at an upstream identity provider hours ago, or at an unknown time, while the session of this server starts now. The
// engine has one time for both, so the time of the authentication is stored separately.
import { engineSeconds, Provider } from '../../engine/library.ts';

/** The members that sign-in/flow.ts adds to the result of an interaction. */
export interface UpstreamLogin {
  /** Epoch seconds; 0: not reported by the upstream. Absent: the time of the sign-in here. */
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
    // Undefined, so that no token contains an unknown time.
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
