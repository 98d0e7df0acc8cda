// The answer with which another server rejects a call: its status and the beginning of its body, for the log and the administrator.

/** As much of a body as names the cause; an error page is longer. */
const MAX_BODY = 500;

export class UnexpectedAnswer extends Error {
  override name = 'UnexpectedAnswer';
  readonly status: number;
  /** On one line. */
  readonly body: string;

  constructor(status: number, body: string) {
    const shortened = body
      .replaceAll(/[\s\p{Cc}]+/gu, ' ')
      .trim()
      .slice(0, MAX_BODY);
    super(`answered with status ${status}${shortened ? `: ${shortened}` : ''}`);
    this.status = status;
    this.body = shortened;
  }
}

/** The error for this response. The body of a response of outgoing-fetch.ts is bounded and in memory already. */
export async function unexpectedAnswer(response: Response): Promise<UnexpectedAnswer> {
  return new UnexpectedAnswer(response.status, await response.text().catch(() => ''));
}
