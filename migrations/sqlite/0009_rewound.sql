-- additive
-- How a generation began that an operator has made of an earlier one, as JSON: see journal.Rewound. Null for all others.

ALTER TABLE reprise_runs ADD COLUMN rewound TEXT;
