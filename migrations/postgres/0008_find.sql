-- additive
-- What listings with a condition need, see package journal/filter. Nothing of it is written before a run is closed, and
-- nothing for a run that completes.

-- The names by which a failure can be found: types, without the prefix of the engine's own, and registered names, of
-- the failure and of its causes. A payload that is none has null; nothing makes the function fail, since an index
-- calls it when a run is closed. It catches errors, which no parallel worker may do, so it is not parallel safe.
--
-- The registered data of an error may be JSON that jsonb refuses: a number that is too large, half of a pair of
-- surrogates, the character 0. So it is json, which is not converted, and what no text can hold is replaced, as every
-- other reader of a failure does. An escaped backslash is written in the other way first: then what looks like an
-- escape is one.
CREATE FUNCTION reprise.failure_classes(payload bytea, encoding text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    t       text;
    f       json;
    classes text[] := '{}';
BEGIN
    IF encoding IS DISTINCT FROM 'failure' THEN
        RETURN NULL;
    END IF;
    t := replace(replace(convert_from(payload, 'UTF8'), '\\', '\u005c'), '\u0000', '\ufffd');
    IF strpos(t, '\ud') > 0 OR strpos(t, '\uD') > 0 THEN
        t := regexp_replace(t, '\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])', '\\ufffd', 'gi');
        t := regexp_replace(t, '(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}', '\\ufffd', 'gi');
    END IF;
    f := t::json;
    WHILE json_typeof(f) = 'object' LOOP
        classes := classes || (f ->> 'type') || (f ->> 'as');
        IF left(f ->> 'type', 8) = 'reprise' || '.' THEN -- in two pieces, since it is not the schema's name
            classes := classes || substr(f ->> 'type', 9);
        END IF;
        IF json_typeof(f -> 'is') = 'array' THEN
            classes := classes || ARRAY (SELECT json_array_elements_text(f -> 'is'));
        END IF;
        f := f -> 'cause';
    END LOOP;
    RETURN ARRAY (SELECT c FROM unnest(classes) AS c WHERE c <> '' AND octet_length(c) <= 300);
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END
$$;

-- A label as a time, null if it is none. Whoever calls it has looked at the text's form.
CREATE FUNCTION reprise.label_time(label text) RETURNS timestamptz
    LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF length(label) = 10 THEN
        RETURN (label || 'T00:00:00Z')::timestamptz;
    END IF;
    RETURN label::timestamptz;
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END
$$;

-- An index calls the function with the rights of whoever closes a run.
GRANT EXECUTE ON FUNCTION reprise.failure_classes(bytea, text), reprise.label_time(text) TO PUBLIC;

-- There is no index by closed_at: it would make each close of a run more than a heap-only update. Operators who list
-- closed runs by time or duration make one, see docs/operating-postgres.md.

-- Failed, cancelled and terminated runs by the names of their failure: only their terminal events are in it. A listing
-- that asks for no name must not find its runs here, since they have no order here: so the predicate says more than the
-- one of events_failed_idx.
CREATE INDEX events_failure_idx ON reprise.events USING gin (reprise.failure_classes(payload, encoding))
    WHERE kind > 20 AND encoding = 'failure';
