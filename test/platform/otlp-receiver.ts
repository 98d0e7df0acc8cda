// A collector of OpenTelemetry traces: receives OTLP over HTTP as JSON, and decodes it.
import { text } from 'node:stream/consumers';
import { type Listening, listen } from '../support/listen.ts';

export interface ReceivedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  failed: boolean;
  attributes: Record<string, unknown>;
}

export interface OtlpReceiver extends Listening {
  spans: ReceivedSpan[];
  /** The attributes of the service, as of the last export. */
  resource: Record<string, unknown>;
  /** What was sent, headers included: a secret must not be in there. */
  raw: string[];
}

interface KeyValue {
  key: string;
  value: Record<string, unknown>;
}

interface Export {
  resourceSpans: {
    resource: { attributes: KeyValue[] };
    scopeSpans: {
      spans: (Omit<ReceivedSpan, 'attributes'> & { attributes: KeyValue[]; status?: { code?: number } })[];
    }[];
  }[];
}

/** Starts it on a free port. */
export async function otlpReceiver(): Promise<OtlpReceiver> {
  const received = { spans: [] as ReceivedSpan[], resource: {}, raw: [] as string[] };
  const server = await listen(async (request, response) => {
    const body = await text(request);
    received.raw.push(`${request.method} ${request.url}\n${request.rawHeaders.join('\n')}\n${body}`);
    const { resourceSpans } = JSON.parse(body) as Export;
    for (const { resource, scopeSpans } of resourceSpans) {
      received.resource = plain(resource.attributes);
      for (const { attributes, status, ...span } of scopeSpans.flatMap(({ spans }) => spans)) {
        received.spans.push({ ...span, failed: status?.code === 2, attributes: plain(attributes) });
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  return Object.assign(received, server);
}

const plain = (attributes: KeyValue[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
