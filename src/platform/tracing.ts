// Spans of a request or a job, for OpenTelemetry (otlp.ts exports them). A root span is started where a request or a job begins;
// everything below it adds its own with `inSpan`, which does nothing else than `work` where no span is recorded. Attributes hold
// names, numbers and identifiers of applications: never a value of a user, a secret, an address or a text of an error.
import { AsyncLocalStorage } from 'node:async_hooks';

export type Attributes = Record<string, string | number | boolean | undefined>;
export type SpanKind = 'internal' | 'server' | 'client';

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  /** Nothing below it gets a span: what a call to the database or another server does inside is no step of its own. */
  isLeaf?: boolean;
}

/** A span that is recorded. */
export interface TraceSpan {
  readonly isLeaf: boolean;
  /** For log lines: 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** An undefined value is left out. */
  set(attributes: Attributes): void;
  rename(name: string): void;
  /** Marks it as failed; `reason` is a code or the name of an error class. */
  fail(reason: string): void;
  child(name: string, options: SpanOptions): TraceSpan;
  end(): void;
}

export interface RootSpanOptions extends Omit<SpanOptions, 'isLeaf'> {
  /** The `traceparent` of a caller that is trusted (W3C Trace Context); anything malformed is ignored. */
  traceparent?: string | undefined;
}

/** What otlp.ts offers when traces are on. */
export interface Tracing {
  /** Starts a trace; undefined when the sampler leaves it out. */
  root(name: string, options: RootSpanOptions): TraceSpan | undefined;
  /** Sends what is left, within the time of one export, and closes the connection. Never rejects. */
  stop(): Promise<void>;
}

const current = new AsyncLocalStorage<TraceSpan | undefined>();

/** Runs work so that it, and all that it starts, adds its spans below this one. It does not end the span. */
export function below<T>(span: TraceSpan | undefined, work: () => T): T {
  return current.run(span, work);
}

/** Runs work in a span below the current one, or without any where none is recorded. */
export function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: TraceSpan | undefined) => Promise<T>,
): Promise<T> {
  const parent = current.getStore();
  if (!parent || parent.isLeaf) return work(undefined);
  return endAfter(parent.child(name, options), work);
}

/** Runs work in this span, and ends it with the work. */
export async function endAfter<T>(span: TraceSpan, work: (span: TraceSpan) => Promise<T>): Promise<T> {
  try {
    return await current.run(span, () => work(span));
  } catch (error) {
    const problem = problemOf(error);
    // What the caller did wrong is an answer, not a failure.
    if (problem.isExpected) span.set({ 'gatehouse.problem': problem.code });
    else span.fail(problem.code);
    throw error;
  } finally {
    span.end();
  }
}

/** The same function in a span of this name; `describe` reads attributes from its result. */
export function traced<Args extends unknown[], Result>(
  name: string,
  work: (...args: Args) => Promise<Result>,
  describe?: (result: Result) => Attributes,
): (...args: Args) => Promise<Result> {
  return (...args) =>
    inSpan(name, {}, async (span) => {
      const result = await work(...args);
      if (describe) span?.set(describe(result));
      return result;
    });
}

/** Adds attributes to the current span, if one is recorded. */
export function describeSpan(attributes: Attributes): void {
  current.getStore()?.set(attributes);
}

/** The fields of a log line that name the current trace, as OpenTelemetry names them; empty without one. */
export function traceFields(span: TraceSpan | undefined = current.getStore()): { trace_id?: string; span_id?: string } {
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
}

/** The code of an error, or the name of its class: never its message, which may quote what a user typed. */
function problemOf(error: unknown): { code: string; isExpected: boolean } {
  if (!(error instanceof Error)) return { code: 'unknown', isExpected: false };
  const { code, status } = error as { code?: unknown; status?: unknown };
  return {
    code: typeof code === 'string' && /^[A-Za-z][\w.-]{0,63}$/.test(code) ? code : error.name,
    isExpected: typeof status === 'number' && status < 500,
  };
}
