// Exports spans with the OpenTelemetry SDK (OTLP over HTTP). Loaded only when traces are on: the packages take 16 MB of memory.
// It affects no request: spans wait in a bounded queue, and are dropped when that is full or the collector does not take them.
import http from 'node:http';
import https from 'node:https';
import { type Context, ROOT_CONTEXT, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import { createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http';
import {
  JsonTraceSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from './logger.ts';
import type { SpanOptions, TraceSpan, Tracing, TracingConfig } from './tracing.ts';

export interface TracingDependencies {
  config: TracingConfig;
  logger: Logger;
  version: string;
  /** Tells the instances of this service apart. */
  instanceId: string;
  /** How long an export and the end may take, unless the usual time. */
  exportMs?: number;
}

/** How long one export, and the last one at the end, may take. */
const EXPORT_MS = 3000;
/** Spans that wait, spans of one export, the pause between two, and characters of a value. */
const QUEUE = { maxQueueSize: 4096, maxExportBatchSize: 512, scheduledDelayMillis: 2000 };
const MAX_VALUE_LENGTH = 255;
const KINDS = { internal: 0, server: 1, client: 2 } as const;

/** Makes the tracing of this process. Nothing is called before the first span has ended. */
export function createTracing({
  config,
  logger,
  version,
  instanceId,
  exportMs = EXPORT_MS,
}: TracingDependencies): Tracing {
  const agent = new (config.url.protocol === 'https:' ? https : http).Agent({ keepAlive: true });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': config.serviceName,
      'service.version': version,
      'service.instance.id': instanceId,
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.name': 'opentelemetry',
    }),
    sampler: samplerOf(config),
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_LENGTH },
    forceFlushTimeoutMillis: exportMs,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reporting(createExporter(config, agent, exportMs), logger),
        ...QUEUE,
        exportTimeoutMillis: exportMs,
      }),
    ],
  });
  const tracer = provider.getTracer('gatehouse', version);

  return {
    root(name, { kind = 'internal', attributes = {}, traceparent }) {
      const caller = traceparent === undefined ? null : parseTraceParent(traceparent);
      const parent = caller ? trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true }) : ROOT_CONTEXT;
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, parent);
      return span.isRecording() ? asTraceSpan(tracer, span, parent, false) : undefined;
    },
    async stop() {
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, exportMs);
      });
      await Promise.race([provider.shutdown().catch(() => {}), limit]);
      clearTimeout(timer);
      // Ends a call that is still open, which would hold up the end of the process.
      agent.destroy();
    },
  };
}

function asTraceSpan(tracer: Tracer, span: Span, parent: Context, isLeaf: boolean): TraceSpan {
  const context = trace.setSpan(parent, span);
  const { traceId, spanId } = span.spanContext();
  return {
    isLeaf,
    traceId,
    spanId,
    set: (attributes) => void span.setAttributes(attributes),
    rename: (name) => void span.updateName(name),
    fail(reason) {
      span.setAttribute('error.type', reason);
      span.setStatus({ code: SpanStatusCode.ERROR });
    },
    child(name, { kind = 'internal', attributes = {}, isLeaf = false }: SpanOptions) {
      const child = tracer.startSpan(name, { kind: KINDS[kind], attributes }, context);
      return asTraceSpan(tracer, child, context, isLeaf);
    },
    end: () => span.end(),
  };
}

/** All options are given, so that the library reads no environment of its own. */
function createExporter(
  { url, headers, protocol }: TracingConfig,
  agent: http.Agent,
  timeoutMillis: number,
): SpanExporter {
  const isJson = protocol === 'http/json';
  const contentType = isJson ? 'application/json' : 'application/x-protobuf';
  const options = {
    url: url.href,
    headers: async () => ({ ...headers, 'Content-Type': contentType }),
    timeoutMillis,
    concurrencyLimit: 2,
    compression: 'none' as const,
    agentFactory: async () => agent,
    userAgent: 'gatehouse',
  };
  const serializer = isJson ? JsonTraceSerializer : ProtobufTraceSerializer;
  const name = `otlp_http_${isJson ? 'json_' : ''}span_exporter`;
  return new OTLPExporterBase(
    createOtlpHttpExportDelegate(options, serializer, name, TraceExporterMetricsHelper, undefined),
  );
}

/** Logs once when the collector stops taking spans and once when it takes them again. */
function reporting(exporter: SpanExporter, logger: Logger): SpanExporter {
  let isDown = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code === ExportResultCode.FAILED;
        if (failed && !isDown)
          logger.warn({ reason: result.error?.message }, 'traces cannot be exported; they are dropped');
        if (!failed && isDown) logger.info('traces can be exported again');
        isDown = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

function samplerOf({ sampler, ratio }: TracingConfig): Sampler {
  const root = rootSamplerOf(sampler.replace(/^parentbased_/, ''), ratio);
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function rootSamplerOf(name: string, ratio: number): Sampler {
  if (name === 'always_on') return new AlwaysOnSampler();
  return name === 'always_off' ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}
