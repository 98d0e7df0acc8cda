// Spans of a request or a job, for OpenTelemetry (otlp.ts exports them). A request or a job starts a root span. The code that it calls
// adds child spans with `runInChildSpan`, which only calls `work` if no span is recorded. Attributes contain names, numbers and
// identifiers of applications: never a value of a user, a secret, an address or the text of an error.
// By hand, because auto-instrumentation writes paths, queries and statements into spans and does not see a bundle.
import { AsyncLocalStorage } from 'node:async_hooks';

export type Attributes = Record<string, string | number | boolean | undefined>;
export type SpanKind = 'internal' | 'server' | 'client';

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  /** No child spans: the inner work of a database or network call is not recorded. */
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

/** The functions of otlp.ts when traces are on. */
export interface Tracing {
  /** Starts a trace; undefined when the sampler leaves it out. */
  root(name: string, options: RootSpanOptions): TraceSpan | undefined;
  /** Sends the remaining spans, within the time of one export, and closes the connection. Never rejects. */
  stop(): Promise<void>;
}

const current = new AsyncLocalStorage<TraceSpan | undefined>();

/** Runs work with `span` as the current span, also for all that the work starts. It does not end the span. */
export function runWithSpan<T>(span: TraceSpan | undefined, work: () => T): T {
  return current.run(span, work);
}

/** Runs work in a child of the current span, or without a span if none is recorded. */
export function runInChildSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: TraceSpan | undefined) => Promise<T>,
): Promise<T> {
  const parent = current.getStore();
  if (!parent || parent.isLeaf) return work(undefined);
  return runAndEndSpan(parent.child(name, options), work);
}

/** Runs work in this span, and ends the span when the work ends. */
export async function runAndEndSpan<T>(span: TraceSpan, work: (span: TraceSpan) => Promise<T>): Promise<T> {
  try {
    return await current.run(span, () => work(span));
  } catch (error) {
    const { code, isExpected } = codeOf(error);
    // A 4xx is an expected result, so the span is not marked as failed.
    if (isExpected) span.set({ 'gatehouse.code': code });
    else span.fail(code);
    throw error;
  } finally {
    span.end();
  }
}

/** Returns a function that runs `work` in a child span of this name. `describe` reads attributes from its result. */
export function traced<Args extends unknown[], Result>(
  name: string,
  work: (...args: Args) => Promise<Result>,
  describe?: (result: Result) => Attributes,
): (...args: Args) => Promise<Result> {
  return (...args) =>
    runInChildSpan(name, {}, async (span) => {
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
function codeOf(error: unknown): { code: string; isExpected: boolean } {
  if (!(error instanceof Error)) return { code: 'unknown', isExpected: false };
  const { code, status } = error as { code?: unknown; status?: unknown };
  return {
    code: typeof code === 'string' && /^[A-Za-z][\w.-]{0,63}$/.test(code) ? code : error.name,
    isExpected: typeof status === 'number' && status < 500,
  };
}

// What the exporter of traces needs to know; read from the environment by base/config/variables.ts.
export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export const protocols = ['http/protobuf', 'http/json'] as const;

export type TracingConfig = Readonly<{
  /** Where spans are sent: OTEL_EXPORTER_OTLP_ENDPOINT with `/v1/traces` behind it. */
  url: URL;
  headers: Readonly<Record<string, string>>;
  protocol: (typeof protocols)[number];
  serviceName: string;
  sampler: (typeof samplers)[number];
  /** Of traces, 0 to 1, for the ratio samplers. */
  ratio: number;
}>;
