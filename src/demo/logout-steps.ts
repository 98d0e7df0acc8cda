// The steps of the last logout in the demo, for its page. The applications report their steps; those of the two servers are read
// from their audit log.

export interface Step {
  at: Date;
  place: string;
  text: string;
}

export interface LogoutSteps {
  /** Starts with the button in an application; deletes the steps of the previous logout. */
  begin(place: string, text: string): void;
  add(place: string, text: string, at?: Date): void;
  /** The steps of the last logout, oldest first. */
  last(): Step[];
}

export function createLogoutSteps(): LogoutSteps {
  let steps: Step[] = [];
  const add = (place: string, text: string, at = new Date()) => {
    steps.push({ at, place, text });
  };
  return {
    begin(place, text) {
      steps = [];
      add(place, text);
    },
    add(place, text, at) {
      // A second step of the same party belongs to a new logout, which was started on a page of the server.
      if (steps.some((step) => step.place === place)) steps = [];
      add(place, text, at);
    },
    last: () => steps.toSorted((a, b) => a.at.getTime() - b.at.getTime()),
  };
}

/** Reads lines of a server's log (LOG_FORMAT=json), and adds a step for each session that it ends. */
export function readSessionEnds(steps: LogoutSteps, place: string, text: string): (line: string) => void {
  return (line) => {
    if (!line.includes('audit session.ended success')) return;
    const { time } = JSON.parse(line) as { time: string | number };
    steps.add(place, text, new Date(time));
  };
}
