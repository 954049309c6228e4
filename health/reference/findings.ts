/** What findings of their own mean: seen, shown and never decisive. A rule that lost is a finding under its reason's word. */
export const FINDING_TEXTS: Readonly<Record<string, string>> = {
  'child-not-judged': 'Pending children without a verdict. They decide nothing.',
  'foreign-evidence': "Evidence of another run's chain was among what was given. It is ignored.",
  'future-timestamp': 'Receipts say that they happened after they were stored. The time of storing counts.',
  'heartbeat-of-earlier-attempt': 'The last heartbeat belongs to an earlier attempt and says nothing of this one.',
  'heartbeat-stale': 'A live attempt has not beaten for longer than it may.',
  'history-near-limit': 'The history is at 80 % or more of the limit at which Temporal ends the run. Continue as new.',
  'history-warn': 'The history is past its warning size. Continue as new before the limit ends the run.',
  'late-receipts':
    'Receipts of a replaced attempt were stored after a newer one had written. They are kept and change nothing.',
  'loop-ended': 'The run says why a loop ended, for example `budget-exhausted`.',
  'nothing-due': 'The run Completed under a contract that owes nothing at the end.',
  'other-mission': 'Evidence of a mission that is not in force. It is ignored but for its effects.',
  'sources-disagree': 'The list and Describe differ. Describe counts; the list may lag.',
  'stop-refused': 'A stop was refused: what it was to end goes on.',
  'stop-requested': 'A stop was requested and is neither confirmed nor refused yet, inside its grace.',
  'temporal-not-asked': 'The run was judged without asking Temporal about it.',
  'units-excluded': 'Units were excluded by a recorded decision.',
  unread: 'Some sources could not be read, and the verdict does not hang on them.',
  'unstable-operation-id':
    'The same input went to the same target under different operation ids: such an id protects nothing.',
};
