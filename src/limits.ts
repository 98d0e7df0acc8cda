// Every number the service lives by, with the paragraph it comes from ("seed N") or the decision it is ours ("ours").
// Settings may choose inside these ranges, never outside. Units are in the names; nothing else in the tree holds such a number.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const KIB = 1024;

export const limits = {
  /** Seed 5.1.3, 8: symmetric keys (client secrets used as HMAC keys, our own secret) are at least 256 bits. */
  symmetricKey: { minBytes: 32 },

  /** Seed 5.1.4, 8: at most 1 hour, 15 minutes the shown example. */
  accessToken: { defaultMinutes: 15, minMinutes: 1, maxMinutes: 60 },
  /** Ours: an ID token is proof of a moment; an hour lets slow clients use it as id_token_hint without refusing. */
  idToken: { seconds: HOUR },
  /** Ours: rotated at each use, so the window is how long an idle application stays connected. */
  refreshToken: { seconds: 14 * DAY },
  /** RFC 6749 4.1.2 recommends at most 10 minutes; a redirect takes seconds. */
  authorizationCode: { seconds: MINUTE },
  /** RFC 8628 3.2: long enough to fetch a phone and type eight letters. */
  deviceCode: { seconds: 10 * MINUTE, pollSeconds: 5 },
  /** RFC 9126 2.2: a pushed request is used at once. */
  pushedRequest: { seconds: MINUTE },
  /** Ours: an initial access token (RFC 7591) is handed to a developer who uses it the same day. */
  registrationToken: { defaultSeconds: DAY, maxSeconds: 30 * DAY },
  /** Ours: a remembered consent. */
  grant: { seconds: 365 * DAY },
  /** Ours: how long a sign-in page may stay open. */
  interaction: { seconds: HOUR },
  /** Seed 2.2, 8: state and PKCE verifier are 32 random bytes. */
  state: { bytes: 32 },
  pkceVerifier: { bytes: 32 },
  /** Ours: the clock of another machine may differ by this much when tokens are checked. */
  clockSkew: { seconds: MINUTE },

  /** Contract: the single sign-on session; the setting is in hours. */
  session: { defaultHours: 12, minHours: 1, maxHours: 30 * 24, seenSeconds: 5 * MINUTE },
  /** Seed 2.4, 8 and 4.3.4: the relying-party cookie `sessionId` and when a client refreshes it. */
  rpSession: { cookieSeconds: 3600, refreshThresholdSeconds: 5 * MINUTE },

  /** Seed 5.5.1, 8: 8 with a second factor, 15 without; "at least 64" must be allowed, we allow 256. */
  password: { minWithMfa: 8, minWithoutMfa: 15, max: 256 },
  /** Seed 5.5: Argon2id is rated best; parameters as OWASP and RFC 9106 name them. bcrypt cost 12 in the shown use. */
  passwordHash: { argon2MemoryKib: 19_456, argon2Iterations: 2, argon2Parallelism: 1, bcryptMaxCost: 15 },
  /** Ours: the first password that an admin hands over; 18 random bytes are 24 letters. */
  oneTimePassword: { bytes: 18 },
  /** Seed 5.5 reset 1 and 2, 8: at least 32 bytes, 15 to 30 minutes. */
  resetToken: { bytes: 32, defaultMinutes: 20, minMinutes: 15, maxMinutes: 30 },
  /** Ours: invitations and address proofs travel by mail and are read later than a reset. */
  invitation: { bytes: 32, hours: 72 },
  emailVerification: { bytes: 32, hours: 24 },
  /** Ours: ends a pause after failed sign-ins; the longest pause is shorter. */
  unlockLink: { bytes: 32, minutes: 60 },
  /** Seed 5.5 reset 5: pages that may not tell whether an account exists answer after exactly this long. */
  evenAnswer: { milliseconds: 200 },

  /** Seed 5.6; RFC 6238: 160-bit secret, 30 s steps, one step of drift. */
  totp: { secretBytes: 20, minSecretBytes: 10, digits: 6, stepSeconds: 30, window: 1 },
  /** Ours: codes sent by mail or SMS. */
  oneTimeCode: { digits: 6, seconds: 10 * MINUTE, tries: 5 },
  /** Ours: printed once, single use. */
  recoveryCodes: { count: 10, bytes: 10, warnBelow: 4 },
  /** Ours: WebAuthn ceremony; passkeys one person may hold. */
  passkey: { timeoutSeconds: 5 * MINUTE, maxPerUser: 20 },
  /** Ours: a factor, mail address or password is only changed shortly after a proof of the strongest factor. */
  opened: { seconds: HOUR }, // between two notes that somebody opened an application
  recentProof: { seconds: 10 * MINUTE },
  /** Ours: "remember this browser" for the second factor. */
  rememberedBrowser: { days: 30 },
  /** Ours: a browser not used for so long is a new one again. */
  knownBrowser: { days: 180 },

  /** Seed 2.3, 8: assertions are valid 5 minutes. The rest: SAML profiles 4.1 and ours. */
  saml: {
    assertionSeconds: 5 * MINUTE,
    requestAgeSeconds: 5 * MINUTE, // IssueInstant, both directions
    notBeforeSkewSeconds: MINUTE,
    keptRequestSeconds: HOUR, // as long as the sign-in page may stay open
    relayStateBytes: 2 * KIB,
    bodyBytes: 256 * KIB, // what is read of a POST at all
    messageBytes: 32 * KIB, // the XML in it, or inflated from a redirect: real ones have 1 to 8 KB
    metadataBytes: 1024 * KIB,
    metadataRefreshSeconds: DAY,
    minRsaBits: 2048,
    certificateDays: 3 * 365,
    certificateWarningDays: 30,
    certificateReminderDays: 7,
  },

  /** Seed 1.4 "keys rotate automatically": publish, then sign, then keep what others may still verify. */
  keys: {
    rotateAfterDays: 90,
    publishAheadSeconds: DAY,
    retireAfterSeconds: 2 * DAY,
    rsaBits: 2048,
    reloadSeconds: 30,
  },

  /** Seed 5.7, 8. */
  hsts: { maxAgeSeconds: 31_536_000 },
  /** Ours: what a client may send, and how slowly. */
  http: {
    formBytes: 64 * KIB,
    jsonBytes: 256 * KIB,
    headerSeconds: 15,
    requestSeconds: 30,
    keepAliveSeconds: 65, // longer than the usual 60 s of a proxy, so that the proxy closes first
    drainSeconds: 15,
  },
  /** Ours: calls we make (back-channel logout, jwks_uri, SAML metadata, gateways). */
  outgoing: { timeoutMs: 2500, maxBytes: 1024 * KIB },
  /** Ours: mail and back-channel deliveries are tried again with growing pauses, then given up. */
  delivery: { maxTries: 12, firstPauseSeconds: 10, maxPauseSeconds: HOUR },
  /** Ours: how long a sign-out waits for an application on its way, and how long its result can be looked at. */
  signOut: {
    probeMs: 2000, // does it answer at all, before a browser is sent there
    frameSeconds: 3, // front-channel logout, all frames together
    hopSeconds: 5, // each SAML service provider, there and back
    settleSeconds: 4, // first results of our own calls, since the sign-out began
    watchSeconds: 60, // the page of the result follows what is still under way
    abandonedSeconds: 2 * MINUTE, // the browser did not come back
    keepSeconds: DAY,
  },
  /** Ours; RFC 5321 4.5.4.1 says 4 to 5 days, but nobody acts on a notice that old. A dead mail server is asked each minute. */
  mail: {
    giveUpAfterSeconds: 3 * DAY,
    outagePauseSeconds: MINUTE,
    leaseSeconds: 5 * MINUTE,
    keepDays: 7,
    timeoutMs: 15_000,
  },
  /** Ours: expired rows go in batches small enough not to hold a lock. */
  sweep: { everySeconds: MINUTE, batch: 500 },
  /** Ours: security events are kept a year; they join the hash chain within seconds. */
  audit: { keepDays: 365, sealSeconds: 5 },
  /** Ours: the admin API. */
  api: { pageSize: 50, maxPageSize: 200, idempotencySeconds: DAY, idempotencyLockSeconds: MINUTE, maxEvaluations: 100 },
  /** Ours: how long the old secrets of an application stay valid beside a new one. */
  secretOverlap: { defaultSeconds: 7 * DAY, maxSeconds: 90 * DAY },
  /** Ours: how long the reason of a refused request can be looked up. */
  refusals: { keepDays: 14 },
  /** Ours: how old a cached setting may be on another instance. */
  settings: { cacheSeconds: 5, maxSchemaBytes: 16 * KIB },

  /** Seed 5.7 CAPTCHA: a second or two of a phone's work, good as long as its page; who can't do it waits instead. */
  captcha: { cost: 2_000, minCounter: 1_000, maxCounter: 2_000, seconds: HOUR, waitSeconds: 30 },
  /** Seed 8 "not shown": ours. `points` tries in `seconds`; one store shared by all instances (seed 5.7 brute force). */
  rateLimits: {
    signInPerAccount: { points: 5, seconds: 15 * MINUTE },
    signInPerAddress: { points: 30, seconds: 15 * MINUTE },
    signInOverall: { points: 1000, seconds: MINUTE },
    codePerAccount: { points: 5, seconds: 10 * MINUTE },
    resetPerAccount: { points: 3, seconds: HOUR },
    resetPerAddress: { points: 20, seconds: HOUR },
    mailPerRecipient: { points: 10, seconds: HOUR },
    registrationPerAddress: { points: 10, seconds: HOUR },
    deviceCodePerAddress: { points: 20, seconds: 10 * MINUTE },
    samlPerAddress: { points: 600, seconds: MINUTE },
    clientAuthPerAddress: { points: 30, seconds: 5 * MINUTE },
    deviceStartPerAddress: { points: 60, seconds: 10 * MINUTE },
    smsPerAccount: { points: 5, seconds: HOUR },
    strengthPerAddress: { points: 90, seconds: MINUTE },
    apiPerCaller: { points: 1200, seconds: MINUTE },
    apiFailuresPerAddress: { points: 60, seconds: 5 * MINUTE },
    captchaAfterFailures: { account: 3, address: 20 },
    captchaWaitPerAddress: { points: 5, seconds: 15 * MINUTE },
  },
} as const;

export type Limits = typeof limits;
