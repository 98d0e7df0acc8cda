// Every limit, lifetime and size of the service, with the RFC section or the reason. A setting chooses inside these ranges,
// never outside. Units are in the names.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const KIB = 1024;

export const limits = {
  /** Symmetric keys (client secrets used as HMAC keys, GATEHOUSE_SECRET) have at least 256 bits (RFC 7518 3.2). */
  symmetricKey: { minBytes: 32 },

  /** The bearer token of /metrics cannot be guessed: 32 hexadecimal digits are 128 bits. */
  metricsToken: { minLength: 32 },

  /** Short-lived, because a JWT access token is valid until it expires. */
  accessToken: { defaultMinutes: 15, minMinutes: 1, maxMinutes: 60 },
  /** A client reads an ID token once, after sign-in; an hour is enough for slow clients (OpenID Connect Core 2). */
  idToken: { seconds: HOUR },
  /** A refresh token ends after `seconds` without use, and after the days in any case, however often it is rotated (RFC 9700 4.14.2). */
  refreshToken: {
    seconds: 14 * DAY,
    defaultDays: 90,
    minDays: 1,
    maxDays: 365,
    // A client whose answer was lost tries again within seconds; Okta allows 30, Cognito at most 60.
    defaultRetrySeconds: 30,
    maxRetrySeconds: MINUTE,
    // Where a fault came between the use of the token and its successor, nobody has the successor: longer than most outages.
    unansweredRetrySeconds: HOUR,
  },
  /** RFC 6749 4.1.2 recommends at most 10 minutes; a redirect takes seconds. */
  authorizationCode: { seconds: MINUTE },
  /** RFC 8628 3.2: long enough to fetch a phone and type eight letters. */
  deviceCode: { seconds: 10 * MINUTE, pollSeconds: 5 },
  /**
   * FAPI 2.0: an iat or nbf up to 10 seconds in the future must be accepted, more than 60 seconds rejected; 15 is in between (Security
   * Profile 5.3.2.1-13). A request object is at most an hour old and valid for an hour (Message Signing 5.3.1).
   */
  fapi: { futureSeconds: 15, requestObjectSeconds: HOUR },
  /**
   * The parameters of an authorization request together, which are stored until the sign-in ends; also what goes back with the answer, which
   * has to fit into an address: browsers and proxies accept 8 KiB of headers.
   */
  authorizationRequest: { bytes: 8 * KIB, pushedBytes: 24 * KIB }, // pushed: as it was sent, in a JWT
  /** RFC 9126 2.2: a pushed request is used at once. */
  pushedRequest: { seconds: MINUTE },
  /** An initial access token (RFC 7591 3) is given to a developer who uses it on the same day. */
  registrationToken: { defaultSeconds: DAY, maxSeconds: 30 * DAY },
  /** RFC 8693: applications that a token may come through, so that a loop of APIs ends and a token has a bounded size. */
  tokenExchange: { actors: 3 },
  /** An identity assertion (ID-JAG) is redeemed at once. */
  idJag: { seconds: 5 * MINUTE },
  /** A remembered consent. */
  grant: { seconds: 365 * DAY },
  /** How long a sign-in page may stay open. */
  interaction: { seconds: HOUR, firstPageSeconds: MINUTE }, // the redirect to the first page takes seconds
  /** state and PKCE verifier are 32 random bytes (RFC 7636 4.1). */
  state: { bytes: 32 },
  pkceVerifier: { bytes: 32 },
  /** The clock of another machine may differ by this much when tokens are checked. */
  clockSkew: { seconds: MINUTE },
  /** The own clock is compared with the time that passed; the clocks of two instances differ by less than `instancesSeconds`. */
  clock: { watchSeconds: 1, jumpSeconds: 5, instancesSeconds: 10 * MINUTE },

  /**
   * The single sign-on session. NIST SP 800-63B-4 2.2.3 (AAL2): at most 24 hours in all, one hour without activity; 12 hours
   * also meet AAL3. `activitySeconds`: the use of a session is recorded once in this time.
   */
  session: {
    defaultHours: 12,
    minHours: 1,
    maxHours: 30 * 24,
    idle: { defaultMinutes: 60, minMinutes: 5, maxMinutes: 30 * 24 * 60 },
    maxPerUser: 1000,
    activitySeconds: MINUTE,
  },
  /** The relying-party cookie `sessionId`, and when a client refreshes it. */
  rpSession: { cookieSeconds: 3600, refreshThresholdSeconds: 5 * MINUTE },

  /** 8 characters with a second factor, 15 without, or more by the settings; at least 64 must be allowed (NIST SP 800-63B-4 3.1.1.2). */
  password: { minWithMfa: 8, minWithoutMfa: 15, maxMinimum: 64, max: 256 },
  /** Argon2id with parameters of the OWASP Password Storage Cheat Sheet (RFC 9106 4); bcrypt only for imported hashes. */
  passwordHash: { argon2MemoryKib: 19_456, argon2Iterations: 2, argon2Parallelism: 1, bcryptMaxCost: 15 },
  /** The first password of an account that an administrator creates; 18 random bytes are 24 characters. */
  oneTimePassword: { bytes: 18 },
  /** A reset link lives 15 to 30 minutes. */
  resetToken: { bytes: 32, defaultMinutes: 20, minMinutes: 15, maxMinutes: 30 },
  /** Users open invitations and address confirmations later than a reset mail. */
  /** `message`: characters of the text that an administrator adds. Its state is kept for `keepDays`. */
  invitation: { bytes: 32, hours: 72, message: 1000, keepDays: 90, signInSeconds: 10 * MINUTE },
  emailVerification: { bytes: 32, hours: 24 },
  /** The mailed link that ends a lockout. No lockout lasts longer than the link. */
  unlockLink: { bytes: 32, minutes: 60 },
  /** Pages that must not reveal whether an account exists respond after exactly this time. */
  uniformAnswer: { milliseconds: 200 },

  /** RFC 6238: 160-bit secret, 30 s steps, one step of drift. */
  totp: { secretBytes: 20, minSecretBytes: 10, digits: 6, stepSeconds: 30, window: 1 },
  /** Codes sent by mail or SMS. */
  oneTimeCode: { digits: 6, seconds: 10 * MINUTE, tries: 5 },
  /** Displayed once; each code works once. */
  recoveryCodes: { count: 10, bytes: 10, warnBelow: 4 },
  /** Timeout of a WebAuthn ceremony; passkeys of one user. */
  passkey: { timeoutSeconds: 5 * MINUTE, maxPerUser: 20 },
  applicationUsage: { seconds: HOUR }, // between two audit entries for the use of one application by one account
  /** Own factors, address and password, and sensitive changes of administrators, need the strongest factor within this time, or what the setting says. */
  recentAuthentication: { seconds: 10 * MINUTE, minMinutes: 1, maxMinutes: 60 },
  /**
   * Setting up the first second factor: how long an administrator's approval lasts, and the setting `first_factor_days`, counted
   * from the creation of the account or from the day on which a second factor is required.
   */
  firstEnrolment: { allowedDays: 7, defaultDays: 14, maxDays: 90, maxListed: 20 },
  /** A form of the console that waits for a fresh sign-in: as long as a sign-in page may stay open. */
  storedForm: { seconds: HOUR, perUser: 5 },
  rememberedBrowser: { days: 30 }, // "Remember this browser" for the second factor
  /** A browser that was not used for this long is new again. Its cookie remembers the last few accounts. */
  knownBrowser: { days: 180, accounts: 5 },

  /** Assertions are valid for 5 minutes (SAML Profiles 4.1.4.2). */
  saml: {
    assertionSeconds: 5 * MINUTE,
    requestAgeSeconds: 5 * MINUTE, // IssueInstant, both directions
    notBeforeSkewSeconds: MINUTE,
    endedParticipantSeconds: 30 * DAY, // how long a service provider may send a LogoutRequest after the session
    keptRequestSeconds: HOUR, // as long as the sign-in page may stay open
    relayStateBytes: 8 * KIB, // as long as an address may be; some products put a whole address and its state into it
    bodyBytes: 256 * KIB, // of a POST
    messageBytes: 32 * KIB, // the XML of a POST, or inflated from a redirect; usual ones have 1 to 8 KB
    responseBytes: 96 * KIB, // of an upstream: a user may be in hundreds of groups
    metadataBytes: 1024 * KIB,
    metadataRefreshSeconds: DAY, // at the latest; a shorter cacheDuration is obeyed
    metadataPollSeconds: HOUR, // at the soonest
    metadataGraceSeconds: 3 * DAY, // after validUntil, when no valid document can be read
    certificateDays: 3 * 365,
    certificateWarningDays: 30,
    certificateReminderDays: 7,
  },

  /** Upstream identity providers: their secrets, their documents, and the DNS proof of domains. */
  connections: {
    maxSecrets: 5, // of one purpose; two are usual while one is rotated
    readSeconds: DAY, // discovery, JWKS, metadata, DNS
    retrySeconds: HOUR,
    firstRetrySeconds: 5, // after a fault; from the short one up while there is no good document
    firstReadSeconds: 10, // between two tries while there is no good document
    unknownKeySeconds: { jwks: MINUTE, metadata: 10 * MINUTE }, // between two reads because of an unknown key
    warnDays: 30, // before a secret or certificate expires
    remindDays: 7, // once more, as urgent
    failingDays: 2, // before a document that cannot be read is reported
    pollSeconds: 5 * MINUTE,
    cached: 500, // rows in memory
  },

  /** Sign-in at an upstream identity provider: how long it may take, and what its answer may hold. */
  upstream: {
    requestSeconds: 10 * MINUTE,
    answerParameters: 20,
    answerBytes: 256 * KIB,
    parameterBytes: 8 * KIB,
    logoutTokenBytes: 8 * KIB,
    logoutTokenSeconds: 5 * MINUTE,
  },

  /** Sign-in at a directory: the time for the connection, for each answer, and for all of it; groups of one user. */
  ldap: {
    connectSeconds: 3,
    stepSeconds: 5,
    signInSeconds: 8,
    retrySeconds: 30,
    maxConcurrent: 12, // sign-ins per directory; fewer than the queue of all password sign-ins has places
    maxWaiting: 200, // for one of them, up to signInSeconds
    downSeconds: 10, // after a failure, in which one sign-in at a time tries it
    serverDownSeconds: 60, // after a failure of one of several servers, which is tried after the others meanwhile
    authoritiesSeconds: 600, // until certificates of the system are read again
    domainSeconds: 300, // until what a domain says about itself is read again
    rejectedAgainSeconds: 900, // until the account that searches is tried again after a rejection that ends by itself
    stateSeconds: 3600, // until a refresh of tokens asks the directory about the user again
    /** Of a directory that states none; of one that never locks, so that guesses are limited all the same. */
    lockout: { threshold: 5, windowSeconds: 30 * MINUTE },
    noLockout: { threshold: 10, windowSeconds: 15 * MINUTE },
    maxGroups: 2000,
    nestedLevels: 10,
  },

  /** Key rotation: publish a new key, then sign with it, and keep the old one while others may still verify with it. */
  keys: {
    rotateAfterDays: 90,
    publishAheadSeconds: DAY,
    retireAfterSeconds: 2 * DAY,
    rsaBits: 2048,
    reloadSeconds: 30,
  },

  /**
   * Public keys of others: RFC 7518 3.3 and BSI TR-02102 for the shortest, OpenSSL's usual exponents. Ten keys are a rollover of every key of
   * a large service.
   */
  foreignKeys: { minRsaBits: 2048, maxRsaBits: 8192, maxExponent: 2 ** 32 - 1, perUse: 10 },

  hsts: { maxAgeSeconds: 31_536_000 }, // Strict-Transport-Security (RFC 6797), one year
  /** How much a client may send, and how slowly. */
  http: {
    formBytes: 64 * KIB,
    jsonBytes: 256 * KIB,
    headerSeconds: 15,
    requestSeconds: 30,
    keepAliveSeconds: 65, // longer than the usual 60 s of a proxy, so that the proxy closes first
    announceSeconds: 5, // behind a proxy: it asks /readyz every few seconds, and stops sending requests after a 503
    drainSeconds: 15,
    closeSeconds: 5, // for the jobs and the database after that; a database that does not respond is left
  },
  /** A worker that ends is started again: at once after a stable run, else after a pause. A new connection goes to the less busy one. */
  // The longest pause and a start together are less than 15 s: so long after the database is back, a server serves again.
  workers: { stableSeconds: 60, firstPauseSeconds: 1, maxPauseSeconds: 8, metricsMs: 2000, maxRequests: 100 },
  /** A configuration file over HTTP: about 4000 users. On disk it has no limit. */
  configuration: {
    bodyBytes: 512 * KIB,
    expandedSize: 2 * KIB * KIB, // characters and values with every alias expanded
    timeLimitMs: 20_000, // half a megabyte takes 1 to 2 s
    heapMb: 512,
    maxWaiting: 4,
  },
  /**
   * The database. A request is answered within 10 seconds also while the database is silent: all its statements together have
   * `requestMs`, and after that `lateMs`, in which a database that answers has answered; quick ones are free.
   */
  database: {
    connections: 10,
    connectMs: 2500, // to connect, or to get a connection of the pool
    statementMs: 4500,
    lockMs: 3500, // measured by PostgreSQL; SQLite: the lock on the file
    answerMs: 5000,
    keepAliveMs: 10_000, // measured here; longer, so that it ends silent connections only
    requestMs: 7000,
    lateMs: 1000, // PostgreSQL only; a statement of SQLite ends without another process
    idleMs: 30_000,
    idleInTransactionMs: 20_000, // the locks of a frozen instance are released
    lookMs: 2000,
    pauseMs: 500, // of a silent database, whether it is back; between two looks
  },
  /** Outgoing calls (back-channel logout, jwks_uri, SAML metadata, gateways). */
  outgoing: { timeoutMs: 2500, maxBytes: 1024 * KIB },
  /** Clients that registered themselves, with and without a token; unused ones go. */
  openRegistration: {
    total: 500,
    retrySeconds: HOUR,
    unusedDays: 90,
    unconsentedDays: 7,
    everySeconds: 6 * HOUR,
    batch: 1000,
  },
  /** Client ID metadata documents (draft-ietf-oauth-client-id-metadata-document): 5 KB as its section 6.6 advises; how long one is used again. */
  clientDocument: {
    timeoutMs: 5000,
    maxBytes: 5 * KIB,
    minAgeSeconds: 5 * MINUTE,
    maxAgeSeconds: DAY,
    /** In memory, and as stored applications. */
    total: 500,
    perHost: 50,
    /** Of a person, so that one account does not fill it. */
    perPerson: 20,
    accessTokenMinutes: 15,
    refreshTokenDays: 30,
  },
  /** Mail and back-channel deliveries are retried with growing pauses, then given up. Each instance looks for due ones. */
  delivery: {
    maxTries: 12,
    pollSeconds: 5,
    firstPauseSeconds: 10,
    maxPauseSeconds: HOUR,
    leaseSeconds: MINUTE,
    atOnce: 64, // attempts of a queue, where each destination has a few; one that never answers holds its own for the time limit
    pausedAfterSeconds: 3 * DAY, // a destination that takes nothing
  },
  /** How long a logout waits for each application, and how long its result can be opened. */
  logout: {
    probeMs: 2000, // probe, before a browser is sent there
    frameSeconds: 3, // front-channel logout, all frames together
    hopSeconds: 5, // each SAML service provider through the browser
    settleSeconds: 4, // from the start of the logout: how long the browser waits for back-channel results
    watchSeconds: 60, // the result page follows deliveries that are not finished
    abandonedSeconds: 2 * MINUTE, // the browser did not come back
    keepSeconds: DAY,
  },
  /** RFC 5321 4.5.4.1 says 4 to 5 days, but a notice that old is of no use. A dead mail server is tried each minute. */
  mail: {
    delayMs: 250, // the response time does not depend on whether there is a mail
    giveUpAfterSeconds: 3 * DAY,
    outagePauseSeconds: MINUTE,
    leaseSeconds: 5 * MINUTE,
    keepDays: 7,
    timeoutMs: 15_000,
    totalMs: 120_000, // of one answer of the mail server, and of all for one mail: less than the lease
  },
  /** A job runs for the first time so soon after the start, and not at the same moment as others. */
  jobs: { firstRunSeconds: 2 },
  /** Expired rows are deleted in batches small enough not to hold a lock. */
  sweep: {
    everySeconds: MINUTE,
    batch: 500,
    keepSeconds: HOUR, // a clock that is ahead for a while must not delete what is valid again when it is right
    keepShortSeconds: 5 * MINUTE, // of a sign-in in progress: deleted too early, it starts again
  },
  /** Days that a person can keep the account after all, and until the audit log forgets a deleted one. */
  deletion: { defaultDays: 14, maxDays: 90, defaultEraseDays: 30, maxEraseDays: 365 },
  /** Audit events are deleted after the days of `retention`; they are added to the hash chain within seconds, with signed checkpoints. */
  audit: {
    retention: { defaultDays: 365, minDays: 30, maxDays: 3650 },
    purgeBatch: 500,
    sealSeconds: 5,
    checkpointSeconds: 5 * MINUTE,
    checkpointEntries: 1000,
    /** A check without the secret reports an entry outside of the chain that is this much older than the newest checkpoint. */
    sealedWithinSeconds: 10 * MINUTE,
    verifySeconds: DAY,
    repeatAlarmSeconds: DAY, // the same alarm again
    alarmMailSeconds: HOUR,
    dataBytes: 16 * KIB, // of the JSON of one entry
    repeatSeconds: 10 * MINUTE, // equal rejected requests become one entry
    maxRepeated: 1000,
  },
  groups: {
    inToken: 200, // above it, a token holds no groups and says so
    inAssertion: 150,
    requestDays: 14, // until an open one lapses
    requestsPerDay: 10, // of one person, each of which is a mail to the owners
    keepRequestsDays: 30, // after that, so that the person sees the state; invitations too
    invitationDays: 7,
    deputyDays: 90,
    openInvitations: 20, // of one owner, in all groups
    members: 200_000, // of one change in the console or by a command
    inRequest: 25_000, // of one API call, whose body is parsed in one turn of the event loop
    requestBytes: 3 * 1024 * 1024, // of that call
    atOnce: 500, // of one transaction; more are added by a job
    changesPollSeconds: 5,
    keepChangesDays: 7, // so that its progress can be read
  },
  /** The admin API. */
  api: {
    pageSize: 50,
    maxPageSize: 200,
    idempotencySeconds: DAY,
    idempotencyLockSeconds: MINUTE,
    idempotencyRetrySeconds: 5,
    maxEvaluations: 100,
  },
  /**
   * A search looks into each of up to `searched` rows, then finds `matches` by each index; `few` rows are sorted when found. Of more, the
   * first `near` in the order of the list are looked at, then all, beside a set of up to `inSet`.
   */
  lists: { searched: 100_000, matches: 1000, few: 2000, counted: 10_000, near: 1000, inSet: 100_000 },
  bulk: { users: 100, seconds: 4 }, // changed by one request: fewer seconds than its database statements may take together
  import: {
    rows: 100_000,
    columns: 500,
    newGroups: 50, // which it offers to create; of more, none
    bytes: 12 * 1024 * 1024,
    inRequest: 4 * 1024 * 1024, // of the API
    waitingMail: 100, // invitations wait while so many mails do
  },
  statistics: { countedRows: 50_000, msPerRow: 0.5, maxAgeMs: 10 * MINUTE * 1000 }, // how long those of more rows are used
  secretOverlap: { defaultSeconds: 7 * DAY, maxSeconds: 90 * DAY }, // of the old secrets beside a new one
  /**
   * SCIM: the operations of one PATCH, octets of a body, users or groups that a filter without an index looks at, resources of a page, seconds between
   * two notes of a use, days until a deleted person's account is deleted.
   */
  scim: {
    operations: 1000,
    bytes: 2048 * KIB,
    searched: 5000,
    page: 100,
    maxPage: 1000,
    noteSeconds: MINUTE,
    keepDeletedDays: 30,
  },
  /** Shared signals: seconds between two verifications, octets of a body, tokens of one poll and in a poll's answer, and how old one of an upstream is. */
  ssf: { verificationSeconds: MINUTE, bytes: 64 * KIB, polled: 100, acknowledged: 1000, upstreamSeconds: 7 * DAY },
  /**
   * Applications to which people and groups are written: the time and size of an answer, one attempt and all its calls together, members of one
   * PATCH, how long an application may fail before it is paused, the longest pause that it may ask for. Fewer leavers than `leavers` are never
   * too many. `previewed`: people that a request for a preview looks at.
   */
  provisioning: {
    timeoutMs: 10_000,
    maxBytes: 1024 * KIB,
    leaseSeconds: 3 * MINUTE,
    attemptSeconds: MINUTE,
    members: 100,
    pollSeconds: 5,
    compareSeconds: DAY,
    leavers: 10,
    previewed: 500,
  },
  /**
   * Questions of proxies without a session that a process answers: of browsers that began a sign-in, and as many others. `share`: what an address
   * (IPv6: /48) may have of those that are left, so 250 a second where no other asks.
   */
  questionsWithoutSession: { perSecond: 1000, share: 1 / 3, retrySeconds: 2 },
  appPassword: { maxPerUser: 50, useSeconds: 60 },
  /** API keys: lifetime, the range of the setting `api_key_max_days`, how long ended ones are listed. */
  apiKey: { defaultDays: 90, defaultMaxDays: 365, maxDays: 1825, keepDays: 30, maxPerUser: 50 },
  /** Invitation codes for sign-up; an expired one is listed for `keepDays`. */
  signUpCode: { defaultDays: 30, maxDays: 365, maxUses: 100_000, max: 500, minLength: 12, maxLength: 64, keepDays: 30 },
  savedFilters: 30, // of the activity log, of one administrator
  rejections: { keepDays: 14, perHour: 100 }, // how long they can be looked up; how many are stored for one address
  settings: { cacheSeconds: 5, maxSchemaBytes: 16 * KIB, schemaCheckMs: 250 }, // cached on other instances
  /** One or two seconds of work on a phone, valid as long as its page; a browser without scripts waits instead. */
  captcha: { cost: 2_000, minCounter: 1_000, maxCounter: 2_000, seconds: HOUR, waitSeconds: 30 },
  /**
   * Password attempts of an instance: checked at once, waiting, how long one waits (seconds), and how often it looks for
   * the end of attempts on other instances. A check takes less than a second, up to 5 for an expensive imported hash.
   */
  signInQueue: { concurrency: 16, maxWaiting: 2000, seconds: 5, pollMilliseconds: 100, inFlightSeconds: 30 },
  /**
   * What everybody who is not signed in may store, by network address, and each user by account: requests that store something, and the
   * bytes of their rows. A sign-in stores with one to three requests and about 10 KB before its user is known: 500 people behind one
   * address sign in within the same ten minutes. `site`: an IPv6 network of 48 bits. Each process counts, and reports each of
   * `parts` to the shared counters. `maxSenders`: of which a process remembers what they stored.
   */
  storageBudget: {
    seconds: 10 * MINUTE,
    sender: { requests: 2500, bytes: 16 * KIB * KIB },
    site: { requests: 12_500, bytes: 64 * KIB * KIB },
    parts: 16,
    maxSenders: 50_000,
  },
  /** `points` attempts in `seconds`, counted for all instances together; for an IPv6 network of 48 bits `siteFactor` times as many. */
  rateLimits: {
    siteFactor: 20,
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
    upstreamLogoutPerAddress: { points: 600, seconds: MINUTE },
    clientRegistrationPerAddress: { points: 20, seconds: HOUR },
    clientDocumentPerAddress: { points: 20, seconds: MINUTE },
    clientDocumentPerHost: { points: 60, seconds: MINUTE },
    clientAuthPerAddress: { points: 30, seconds: 5 * MINUTE },
    deviceStartPerAddress: { points: 60, seconds: 10 * MINUTE },
    smsPerAccount: { points: 5, seconds: HOUR },
    ownChangesPerAccount: { points: 60, seconds: HOUR },
    ownDataPerAccount: { points: 3, seconds: DAY }, // each reads everything that is stored about a person
    groupAdditionsPerAccount: { points: 30, seconds: DAY },
    strengthPerAddress: { points: 90, seconds: MINUTE },
    apiPerCaller: { points: 1200, seconds: MINUTE },
    /** Entra and Okta send up to 25 a second at a first synchronization. */
    scimPerConnection: { points: 6000, seconds: MINUTE },
    apiFailuresPerAddress: { points: 60, seconds: 5 * MINUTE },
    captchaAfterFailures: { account: 3, address: 20 },
    captchaWaitPerAddress: { points: 5, seconds: 15 * MINUTE },
  },
} as const;

export type Limits = typeof limits;
