// The metrics of /metrics (Prometheus text format). Labels have closed sets of values, never an address, an account or text of
// a client, so that requests cannot grow the number of series.
import { Counter, collectDefaultMetrics, Histogram, type Metric, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const JOB_BUCKETS = [0.01, 0.1, 1, 10, 60, 600];

let ofProcess: Registry | undefined;

/** Event loop lag, memory and garbage collection: measured once per process, because their timers and observers do not end with a server. */
function processMetrics() {
  if (!ofProcess) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess.getMetricsAsArray();
}

/** Creates the metrics of one server in a new registry, with those of its process. Every series has the `labels`. */
export function createMetrics(labels: Record<string, string> = {}) {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  for (const metric of processMetrics()) registry.registerMetric(metric as unknown as Metric);
  const registers = [registry];

  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `gatehouse_${name}_total`, help, labelNames, registers });
  const histogram = <Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]) =>
    new Histogram({ name: `gatehouse_${name}_seconds`, help, labelNames, buckets, registers });

  return {
    registry,
    /** `route` is the matched pattern (`/signin/:uid`), `other` where none matched. */
    requests: histogram(
      'http_request_duration',
      'Time to answer a request',
      ['method', 'route', 'status'],
      REQUEST_BUCKETS,
    ),
    requestErrors: counter('http_errors', 'Requests that ended with an error code', ['code']),
    signIns: counter('sign_ins', 'Sign-in attempts', ['outcome', 'method']),
    tokensIssued: counter('tokens_issued', 'Tokens issued by the OpenID Connect engine', ['type']),
    samlResponses: counter('saml_responses', 'SAML responses sent', ['outcome']),
    logoutDeliveries: counter('logout_deliveries', 'Back-channel logout calls', ['outcome']),
    eventDeliveries: counter('event_deliveries', 'Deliveries to event streams: done, retried, given-up', ['outcome']),
    mails: counter('mails', 'Emails by outcome: sent, written (to a file), deferred, failed', ['outcome']),
    alarms: counter('integrity_alarms', 'Rows with a wrong MAC', ['kind']),
    jobs: histogram('job_duration', 'Time a periodic job took', ['job', 'outcome'], JOB_BUCKETS),
    contentType: registry.contentType,
    /** The text of /metrics. */
    render: (): Promise<string> => registry.metrics(),
  };
}
