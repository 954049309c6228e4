/** What crosses between the six scripted agents and their activities. Plain JSON, and no code. */

/** Started with what they need of the demonstration; `round` counts continue-as-new. */
export interface WorkingInput {
  readonly round?: number;
}

/** The address of the destination that the agent acts on. */
export interface DestinationInput {
  readonly destination: string;
}

/** What the person says: `temporal workflow signal -w ID --name approve --input '{"by":"ann"}'`. */
export interface Approval {
  readonly by?: string;
}

export interface SixCasesActivities {
  /** Works on one section for about a minute, with a new digest every few seconds. */
  writeSection(section: number): Promise<void>;
  /** Prepares what somebody has to approve. */
  prepareRequest(): Promise<{ readonly subjectDigest: string }>;
  /** Keeps the decision at its promised place. */
  keepDecision(approval: Approval): Promise<void>;
  /** Heartbeats every second and never gets anywhere. */
  searchForEver(): Promise<void>;
  /** Pays once; the answer of the destination may never come. */
  payInvoice(input: DestinationInput): Promise<void>;
  /** Checks sources and says that it is done. */
  checkSourcesAndSayDone(): Promise<string>;
  /** Checks sources, registers the result at the destination, writes the report and has it checked. */
  checkAndDeliver(input: DestinationInput): Promise<void>;
}
