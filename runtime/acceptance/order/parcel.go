package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// courier is the shop's side of the carrier: it sends requests until the answers can be believed.
type courier struct {
	url    string
	client *http.Client
}

func newCourier(url string) *courier {
	transport := &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: 10 * time.Second}
	return &courier{url: url, client: &http.Client{Transport: transport}}
}

// ship sends an order and returns its tracking number. The key makes a repeated call harmless.
func (c *courier) ship(ctx context.Context, key string, o Order) (string, error) {
	var l label
	if err := c.call(ctx, http.MethodPost, "/shipments", key, parcel{o.ID, o.Address}, &l); err != nil {
		return "", err
	}
	if l.Key != key || l.Order != o.ID {
		return "", fmt.Errorf("ship order %s: %w: %+v", o.ID, errAnswer, l)
	}
	return l.Tracking, nil
}

// recall takes back whatever was shipped for an order, and whatever is still on its way to the
// carrier.
func (c *courier) recall(ctx context.Context, o Order) error {
	var l label
	if err := c.call(ctx, http.MethodDelete, "/orders/"+url.PathEscape(o.ID), "", nil, &l); err != nil {
		return err
	}
	if l.Order != o.ID || l.Key != "" {
		return fmt.Errorf("recall order %s: %w: %+v", o.ID, errAnswer, l)
	}
	return nil
}

func (c *courier) call(ctx context.Context, method, path, key string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return workflow.Permanent(err)
	}
	// A plain reader without GetBody: the transport must not repeat requests by itself.
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, io.NopCloser(bytes.NewReader(body)))
	if err != nil {
		return workflow.Permanent(err)
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	response, err := c.client.Do(r)
	if err != nil {
		return fmt.Errorf("carrier: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return fmt.Errorf("carrier: %w", err)
	}
	return understand(response, answer, out)
}

// understand turns an answer into a result, a failure to be retried, or a rejection.
func understand(response *http.Response, answer []byte, out any) error {
	switch status := response.StatusCode; {
	case status == http.StatusOK:
		if err := json.Unmarshal(answer, out); err != nil {
			return fmt.Errorf("carrier: %w", err)
		}
		return nil
	case status == http.StatusServiceUnavailable:
		err := fmt.Errorf("carrier: %s", bytes.TrimSpace(answer))
		if seconds, e := strconv.Atoi(response.Header.Get("Retry-After")); e == nil {
			return workflow.RetryAfter(err, time.Duration(seconds)*time.Second)
		}
		return err
	case status == http.StatusUnprocessableEntity, status == http.StatusGone:
		return reject(outcomeAddress, "%s", bytes.TrimSpace(answer))
	default:
		return fmt.Errorf("carrier: status %d: %s", status, bytes.TrimSpace(answer))
	}
}
